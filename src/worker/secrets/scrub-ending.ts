import type { WriteBacks } from '../../domain/outcome/content.ts';
import type { RunEnding, ToolResult } from '../../domain/ports/tool-runner.ts';
import { encode } from '../../base/message-pack.ts';
import type { Taint } from './taint.ts';

const TYPE_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/** The endings whose texts say what went wrong. */
type FailedEnding = Exclude<RunEnding, { readonly kind: 'returned' | 'input-required' }>;

/** The ending of a run without the secrets that it was given. */
export function scrubEnding(ending: RunEnding, taint: Taint, maxBytes: number): RunEnding {
  switch (ending.kind) {
    case 'returned': {
      const result = scrubResult(ending.result, taint);
      const writeBacks = scrubWriteBacks(ending.writeBacks, taint);
      const isSame = result === ending.result && writeBacks === ending.writeBacks;
      return isSame ? ending : withinLimit({ ...ending, result, writeBacks }, maxBytes);
    }
    case 'refused': {
      const writeBacks = scrubWriteBacks(ending.writeBacks, taint);
      return withinLimit({ ...scrubFailure(ending, taint), writeBacks }, maxBytes);
    }
    case 'input-required':
      return withinLimit({ ...taint.scrub(ending), writeBacks: scrubWriteBacks(ending.writeBacks, taint) }, maxBytes);
    default:
      return scrubFailure(ending, taint);
  }
}

/** Removes secrets from the texts of a failure. These texts were shortened before, so they may end in the middle of a secret. */
export function scrubFailure<Failed extends FailedEnding>(ending: Failed, taint: Pick<Taint, 'scrubText'>): Failed;
export function scrubFailure(ending: FailedEnding, taint: Pick<Taint, 'scrubText'>): FailedEnding {
  const cut = (text: string): string => taint.scrubText(text, true);
  switch (ending.kind) {
    case 'refused': {
      const { code, ...rest } = ending;
      const kept = code !== undefined && cut(code) === code ? { code } : {};
      return { ...rest, ...kept, message: cut(ending.message) };
    }
    case 'invalid-arguments':
      return { ...ending, problems: ending.problems.map(cut) };
    case 'changed-answers':
    case 'changed-arguments':
      return { ...ending, changes: ending.changes.map(cut) };
    case 'not-json':
    case 'unserialisable':
      return { ...ending, problem: cut(ending.problem) };
    case 'threw': {
      const type = cut(ending.type);
      return { ...ending, type: TYPE_NAME.test(type) ? type : 'Error', cause: cut(ending.cause) };
    }
    case 'crashed':
      return { ...ending, how: cut(ending.how) };
    case 'normalised':
    case 'timed-out':
    case 'aborted':
    case 'too-large':
    case 'not-run':
      return ending;
  }
}

function scrubResult(result: ToolResult, taint: Taint): ToolResult {
  const scrubbed = taint.scrub(result);
  if (scrubbed.content?.some(({ kind }) => kind === 'file') !== true) return scrubbed;
  const content = scrubbed.content.map((block) => (block.kind === 'file' ? scrubName(block, taint) : block));
  return { ...scrubbed, content };
}

function scrubWriteBacks(writeBacks: WriteBacks, taint: Taint): WriteBacks {
  const scrubbed = taint.scrub(writeBacks);
  if (scrubbed.files.length === 0) return scrubbed;
  return { ...scrubbed, files: scrubbed.files.map((file) => scrubName(file, taint)) };
}

function scrubName<File extends { readonly name: string }>(file: File, taint: Taint): File {
  return { ...file, name: taint.scrubFileName(file.name) };
}

/** A mark can be longer than the secret it replaces, so the size is checked again. */
function withinLimit(ending: RunEnding, limit: number): RunEnding {
  const bytes = encode(ending).byteLength;
  return bytes > limit ? { kind: 'too-large', bytes, limit } : ending;
}
