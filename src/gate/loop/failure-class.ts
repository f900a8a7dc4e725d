import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { signatureOf } from './signature.ts';

/** Failures of one class count as the same failure, whatever numbers, names and paths their messages contain. */
export function failureSignature(failureClass: string): string {
  return signatureOf(`failure\0${failureClass}`);
}

export const UNKNOWN_TOOL = failureSignature('TOOL_UNKNOWN');

/**
 * The class of a failure. What the tool's author states comes first: a code, then a type or a status. If there is none, the class is made
 * from the words of the error text.
 */
export function failureClass(outcome: Outcome): string {
  const { error } = outcome;
  if (error === undefined) return outcome.kind;
  const { code, facts = {} } = error;
  if (code === 'TOOL_THREW') return `${code} ${shortText(facts['type'])}`;
  if (code === 'TOOL_CRASHED') return `${code} ${skeleton(shortText(facts['how']))}`;
  if (code !== 'TOOL_FAILED' && code !== 'TOOL_DENIED') return code;
  if (typeof facts['code'] === 'string') return `${code} ${shortText(facts['code'])}`;
  const found = readStructure(outcome.structured);
  const text = found.isNamed ? '' : skeleton(found.text ?? error.message);
  return `${code} ${found.facts} ${text}`;
}

interface Structure {
  /** Fields that describe the failure: codes, types, states. */
  facts: string;
  /** True if one of the fields identifies the failure. An exit code alone does not. */
  isNamed: boolean;
  text?: string;
}

const NAMING = ['code', 'errorCode', 'error_code', 'type', 'name', 'errno'];
const STATES = ['status', 'statusCode', 'status_code', 'exitCode', 'exit_code'];
const INNER = ['error', 'result', 'data', 'response', 'output', 'details', 'structuredContent'];

function readStructure(value: JsonValue | undefined): Structure {
  const found: Structure = { facts: '', isNamed: false };
  if (value === undefined || !isJsonObject(value)) return found;
  readLevel(value, found);
  for (const name of INNER) {
    const inner = value[name];
    if (inner !== undefined && isJsonObject(inner)) readLevel(inner, found);
  }
  return found;
}

function readLevel(level: JsonObject, found: Structure): void {
  for (const name of NAMING) {
    const given = level[name];
    if (typeof given !== 'string' && typeof given !== 'number') continue;
    found.facts += `${name}=${shortText(String(given))};`;
    found.isNamed = true;
  }
  for (const name of STATES) {
    const given = level[name];
    if (typeof given !== 'string' && typeof given !== 'number') continue;
    found.facts += `${name}=${shortText(String(given))};`;
    found.isNamed ||= typeof given === 'number' && given >= 400 && given <= 599;
  }
  const text = level['stderr'];
  if (found.text === undefined && typeof text === 'string' && text.trim() !== '') found.text = text;
}

function shortText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, 100) : '';
}

const MAX_LINE_LENGTH = 300;
const QUOTED = /(?<![\p{L}\p{N}])(["'`])[^"'`]{0,300}\1/gu;
const WORD = /(?<![^\s([{<"'`])\p{L}[\p{L}_-]*(?=[:.,;!?)\]}>"'`]*(?:\s|$))/gu;

/** The words of the first and of the last line: a traceback names its error at the end, most other messages at the beginning. */
function skeleton(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.slice(0, MAX_LINE_LENGTH).split('\n', 1)[0]!;
  const rest = trimmed.slice(Math.max(first.length, trimmed.length - MAX_LINE_LENGTH));
  const last = rest.slice(rest.lastIndexOf('\n') + 1);
  return `${bareWords(first)} / ${bareWords(last)}`;
}

function bareWords(line: string): string {
  return (line.replaceAll(QUOTED, ' ').match(WORD) ?? []).join(' ');
}
