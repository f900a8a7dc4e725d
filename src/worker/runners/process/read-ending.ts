import { readToolFailureFields } from '../../../modules/authoring/tool-failure.ts';
import { isStatus } from '../../../domain/outcome/classify-thrown.ts';
import { isErrorCategory, type Fault } from '../../../domain/outcome/error-category.ts';
import type { RunEnding } from '../../../domain/ports/tool-runner.ts';
import { NO_WRITE_BACKS } from '../../../domain/outcome/content.ts';
import { endingOfReceivedInput } from '../plain-input.ts';
import { endingOfReceived } from '../plain-result.ts';

const TYPE_NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const MAX_TEXT = 8192;

/**
 * Reads the ending that a tool's process reports, and checks it again: the tool shares that process and can write frames itself. Only
 * endings that tool code can cause are accepted; undefined for any other, e.g. a forged `timed-out`.
 */
export function readEnding(received: unknown, maxBytes: number): RunEnding | undefined {
  if (typeof received !== 'object' || received === null) return undefined;
  const fields = received as Record<string, unknown>;
  switch (fields['kind']) {
    case 'returned':
      return endingOfReceived(fields['result'], fields['writeBacks'], maxBytes);
    case 'refused':
      return readRefused(fields, maxBytes);
    case 'input-required':
      return endingOfReceivedInput(fields, maxBytes);
    case 'invalid-arguments':
      return { kind: 'invalid-arguments', problems: textsOf(fields['problems']) };
    case 'changed-answers':
    case 'changed-arguments':
      return { kind: fields['kind'], changes: textsOf(fields['changes']) };
    case 'normalised':
      return typeof fields['arguments'] === 'string'
        ? { kind: 'normalised', arguments: fields['arguments'] }
        : undefined;
    case 'not-json':
      return { kind: 'not-json', problem: textOf(fields['problem']).slice(0, 500) };
    case 'threw':
      return readThrew(fields);
    case 'unserialisable':
      return { kind: 'unserialisable', problem: textOf(fields['problem']).slice(0, 500) };
    case 'too-large':
      return { kind: 'too-large', bytes: numberOf(fields['bytes']), limit: maxBytes };
    default:
      return undefined;
  }
}

function readThrew(fields: Record<string, unknown>): RunEnding {
  const [type, cause] = [typeOf(fields['type']), textOf(fields['cause'])];
  return { kind: 'threw', isStarted: fields['isStarted'] !== false, type, cause, ...faultIn(fields) };
}

function readRefused(fields: Record<string, unknown>, maxBytes: number): RunEnding | undefined {
  const failure = readToolFailureFields(fields['how'], fields['message'], fields['code']);
  if (failure === undefined) return undefined;
  const carried = endingOfReceived({}, fields['writeBacks'] ?? NO_WRITE_BACKS, maxBytes);
  if (carried.kind !== 'returned') return carried;
  return { kind: 'refused', ...failure, ...faultIn(fields), writeBacks: carried.writeBacks };
}

/** A category from the closed list and a valid status, as far as they are present. */
function faultIn({ fault }: Record<string, unknown>): { fault?: Fault } {
  if (typeof fault !== 'object' || fault === null) return {};
  const { category, status } = fault as Record<string, unknown>;
  const known = {
    ...(isErrorCategory(category) ? { category } : {}),
    ...(isStatus(status) ? { status } : {}),
  };
  return Object.keys(known).length === 0 ? {} : { fault: known };
}

const MAX_PROBLEMS = 8;

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, MAX_PROBLEMS).map((one) => textOf(one).slice(0, 300)) : [];
}

function typeOf(value: unknown): string {
  return typeof value === 'string' && TYPE_NAME.test(value) ? value : 'Error';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
