import { isJsonObject } from '../../base/json.ts';
import { maskText } from '../../observe/redact/mask-text.ts';
import { parseClientFile } from './parse-client-file.ts';
import { SETTING_MEMBERS } from './parsed-client-file.ts';

const MIN_LENGTH = 4;
const HIDDEN = '[hidden]';

/** Hides the values of variables and headers in texts of client files, so that a diff of them can be shown. */
export function hideSettings(texts: readonly string[]): string[] {
  const values = [...new Set(texts.flatMap(settingValues))].filter((value) => value.length >= MIN_LENGTH);
  // The longest first: a shorter one may be a part of it.
  const written = values.toSorted((a, b) => b.length - a.length).flatMap((value) => [inJson(value), value]);
  return texts.map((text) => {
    const hidden = written.reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
    return maskText(hidden, () => HIDDEN);
  });
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function settingValues(text: string): string[] {
  const parsed = parseClientFile(text);
  if (parsed.kind === 'problem') return [];
  return parsed.file.servers.flatMap(({ value }) => {
    if (!isJsonObject(value)) return [];
    const groups = SETTING_MEMBERS.map((member) => value[member]).filter(isJsonObject);
    return groups.flatMap((group) => Object.values(group).filter((item) => typeof item === 'string'));
  });
}
