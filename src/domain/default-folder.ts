/** Folder of the embedded store, below the working directory, where none is named. */
export const DEFAULT_FOLDER = '.sallyport';
