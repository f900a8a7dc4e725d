import pc from 'picocolors';
import { countNoun } from '../../base/count-noun.ts';
import { shorten } from '../../base/cut-text.ts';
import type { DefinitionChange, MemberChange, ShownSegment } from './describe-change.ts';
import { showText } from './hidden-characters.ts';

export interface RenderOptions {
  /** With colour, removed text is red and added text is green. Without, they are marked as `[-old-]{+new+}`. */
  readonly colour: boolean;
}

const MAX_KEY = 200;
/** In front of each line of a text. A line of a server's text can therefore not look like a line of Sallyport. */
const BAR = '    | ';

/** The lines that show a change in a terminal. Everything that the server wrote is escaped. */
export function renderChange(change: DefinitionChange, options: RenderOptions): string[] {
  const paint = painter(options.colour);
  const key = shorten(showText(change.key).replaceAll('\n', '\\u{a}'), MAX_KEY);
  const lines = [`${key}: ${change.kind}`, ...change.members.flatMap((member) => renderMember(member, paint))];
  return change.problem === undefined ? lines : [...lines, `  not everything is shown: ${change.problem}`];
}

type Paint = (kind: ShownSegment['kind'], text: string) => string;

function painter(colour: boolean): Paint {
  if (colour) {
    const colours = pc.createColors(true);
    return (kind, text) => (kind === 'kept' ? text : colours[kind === 'added' ? 'green' : 'red'](text));
  }
  return (kind, text) => {
    const plain = escapeMarks(text);
    if (kind === 'kept' || plain === '') return plain;
    return kind === 'added' ? `{+${plain}+}` : `[-${plain}-]`;
  };
}

/** The attack: a description contains `-]{+`, so that removed text looks added. */
function escapeMarks(text: string): string {
  return text
    .replaceAll('[-', '[\\u{2d}')
    .replaceAll('-]', '\\u{2d}]')
    .replaceAll('{+', '{\\u{2b}')
    .replaceAll('+}', '\\u{2b}}');
}

function renderMember({ pointer, segments, hidden }: MemberChange, paint: Paint): string[] {
  const place = `  ${escapeMarks(pointer.replaceAll('\n', '\\u{a}'))}`;
  const lines = segments.map((segment) => renderSegment(segment, paint)).join('');
  const warnings = hidden.map(({ what, count }) => `    ! hidden: ${what}${count === 1 ? '' : ` (${count} times)`}`);
  if (!lines.includes('\n')) return [`${place}: ${lines}`, ...warnings];
  return [`${place}:`, ...lines.split('\n').map((line) => BAR + line), ...warnings];
}

/** Marks each line on its own, so that a colour or a mark never spans lines. */
function renderSegment({ kind, text, skippedWords, textAfter = '' }: ShownSegment, paint: Paint): string {
  // A line break that was added or removed would be invisible without a text of its own.
  const visible = (part: string): string => (kind === 'kept' ? part : part.replaceAll('\n', '\\n\n'));
  const painted = (part: string): string =>
    visible(part)
      .split('\n')
      .map((line) => paint(kind, line))
      .join('\n');
  if (skippedWords === undefined) return painted(text);
  const skipped = `… ${countNoun(skippedWords, 'unchanged word')} …`;
  return [painted(text), skipped, painted(textAfter)].filter((part) => part !== '').join(' ');
}
