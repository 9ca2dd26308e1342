"""The version of the package, alone in its file so that the build and the signatures read the same one."""

__version__ = "0.1.0"
