"""What every room uses and that knows no room: arguments, limits, drafts of files, joblib's workers."""
