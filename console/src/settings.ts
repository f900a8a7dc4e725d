const PREFIX = 'sallyport.';

/** A choice of this browser; never a credential. Absent where the browser keeps nothing. */
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
    // A private window without storage: the choice lasts as long as the page.
  }
}
