"""Contact detection, shared by every method: shapes to candidate pairs to contacts."""
