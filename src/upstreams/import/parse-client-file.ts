import { parseJsonServers } from './parse-json-servers.ts';
import { parseTomlServers } from './parse-toml-servers.ts';
import type { ParseClientFile } from './parsed-client-file.ts';

/** Parses a client's file. Its content decides the format: a user can give the file any name. */
export function parseClientFile(text: string): ParseClientFile {
  try {
    return /^\s*(?:\{|\/[/*]|$)/.test(text) ? parseJsonServers(text) : parseTomlServers(text);
  } catch (error) {
    // Both parsers are recursive. The attack: a file of a hundred thousand opening brackets.
    if (error instanceof RangeError) return { kind: 'problem', problem: 'it is nested too deeply', line: 1, column: 1 };
    throw error;
  }
}
