import { readFileSync } from 'node:fs';

interface PackageFile {
  readonly version: string;
}

/** The version in package.json, which is two folders up from the sources and from `dist` alike. */
export const RELEASE = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageFile)
  .version;
