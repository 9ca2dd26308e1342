"""Reading and writing: any file a user has to examples, and back."""
