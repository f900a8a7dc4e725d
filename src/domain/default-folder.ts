/** Default folder of the embedded store, relative to the working directory. */
export const DEFAULT_FOLDER = '.sallyport';
