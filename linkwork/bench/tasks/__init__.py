"""What is measured: functions that run in a child process and return numbers by column key, one file per engine."""
