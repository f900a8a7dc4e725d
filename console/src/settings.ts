const PREFIX = 'sallyport.';

/** Reads a preference of this browser; never a credential. Undefined if the browser stores nothing. */
export function readSetting(name: string): string | undefined {
  try {
    return localStorage.getItem(PREFIX + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // A private window may have no storage. The preference then lasts until the page is closed.
  }
}
