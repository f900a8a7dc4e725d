import type { z } from 'zod';
import type { SettingsFile } from './read-settings-file.ts';

export type NearNames = (name: string, known: Iterable<string>, limit?: number) => string[];

/** The end of a message about an unknown name: a hint at the most similar known name, or nothing. */
export function guessName(name: string, known: Iterable<string>, near: NearNames): string {
  const [found] = near(name, new Set(known), 1);
  return found === undefined ? '' : `, did you mean ${found}?`;
}

export interface IssueNeeds {
  /** Where a member, or a key in it, was written: `file:line:column`, an environment variable, or a flag. */
  readonly placeOf: SettingsFile['placeOf'];
  readonly keysBelow: (path: string) => readonly string[];
  /** The words after "expected" in a message. Undefined means that the schema's own message is used. */
  readonly expects: (path: string) => string | undefined;
  readonly near: NearNames;
}

/** Describes an issue by its place, its path and what is expected. Never contains the value. */
export function describeIssue(issue: z.core.$ZodIssue, needs: IssueNeeds): string[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 3).map((key) => {
      const [near] = needs.near(key, needs.keysBelow(path), 1);
      const hint = near === undefined ? '' : `, did you mean "${near}"?`;
      const shown = JSON.stringify(key.slice(0, 40));
      return `${needs.placeOf(issue.path, key)}: unknown key ${shown}${path === '' ? '' : ` in ${path}`}${hint}`;
    });
  }
  if (issue.code === 'invalid_key') {
    const place = needs.placeOf(issue.path.slice(0, -1), String(issue.path.at(-1)));
    return [`${place}: ${path}: ${issue.issues[0]?.message ?? issue.message}`];
  }
  const expected = needs.expects(path);
  const found = issue.code === 'invalid_type' ? `, found ${typeName(issue.input)}` : '';
  const text = expected === undefined ? issue.message.slice(0, 160) : `expected ${expected}${found}`;
  return [`${needs.placeOf(issue.path)}: ${path === '' ? 'the file' : path}: ${text}`];
}

function typeName(value: unknown): string {
  if (value === null) return 'nothing';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'a number';
  if (Array.isArray(value)) return 'a list';
  return value === undefined ? 'nothing' : typeof value === 'boolean' ? 'true or false' : 'a group';
}
