"""Reading and writing: any file or object a user has to examples, and back."""
