import { nameOfAsker, type ApprovalQuestion, type QuestionMask } from '../../domain/policy/approval.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parsePointer } from '../../base/json-pointer.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { escapeHidden, toVisibleJsonString } from '../../base/escape-text.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import { argumentsDigest } from './binding.ts';

/** How a question is rendered. By default, a masked value is shown as a mark without a name. */
export interface RenderOptions {
  /** Shows the masked values. Set it only for an approver whose reveal the store has recorded. */
  readonly revealed?: boolean;
  /** Returns a short name for a secret; equal secrets get equal names. */
  readonly nameSecret?: (secret: string) => string;
}

/**
 * What an approver sees before deciding. It is made from the bytes that would run, never from an asker's description of them. Nothing is
 * left out or shortened; invisible characters are escaped; a mark shows the length of what it masks.
 */
export interface RenderedQuestion {
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly detail?: string;
  readonly severity: ApprovalQuestion['severity'];
  readonly tool: string;
  readonly toolDigest: string;
  readonly requester: string;
  readonly askers: readonly string[];
  readonly arguments: RenderedArguments;
  /** What the caller's user answered to the tool's questions, if anything: the tool gets it together with the arguments. */
  readonly answers?: RenderedArguments;
  /** Number of marks in arguments and answers. An approver has to reveal the masked values first; otherwise an approval does not count. */
  readonly masked: number;
  readonly decisions: ApprovalQuestion['decisions'];
  readonly quorum: number;
  /** The binding that a decision must name. */
  readonly binding: string;
}

export interface RenderedArguments {
  /** JSON with one line per value. If nothing is masked, it is equal to the JSON that runs. */
  readonly text: string;
  /** Size of the canonical form, which is what runs. */
  readonly bytes: number;
  /** SHA-256 of the canonical form. Absent while something is masked: a short secret could be found by trying digests. */
  readonly digest?: string;
  /** Number of marks in the text. */
  readonly redacted: number;
}

/** A question that an older release stored has no list of masks: its arguments are masked as a whole. */
const ALL_MASKED: readonly QuestionMask[] = [{ of: 'arguments', pointer: '' }];

export function masksOf({ masks = ALL_MASKED }: Pick<ApprovalQuestion, 'masks'>): readonly QuestionMask[] {
  return masks;
}

export function renderQuestion(question: ApprovalQuestion, options: RenderOptions = {}): RenderedQuestion {
  const { identity, answers } = question;
  const masks = options.revealed === true ? [] : masksOf(question);
  const render = (canonical: string, of: QuestionMask['of']): RenderedArguments =>
    renderArguments(
      canonical,
      masks.filter((mask) => mask.of === of),
      options.nameSecret,
    );
  const shown = render(question.arguments, 'arguments');
  const shownAnswers = answers === undefined ? undefined : render(answers, 'answers');
  const line = (text: string): string => escapeHidden(text);
  return {
    title: line(question.title),
    description: escapeHidden(question.description, true),
    reasons: question.reasons.map(line),
    ...(question.detail === undefined ? {} : { detail: escapeHidden(question.detail, true) }),
    severity: question.severity,
    tool: question.tool,
    toolDigest: question.toolDigest,
    requester: line(`${identity.subject} (tenant ${identity.tenant}), agent ${identity.agent}`),
    askers: question.askers.map((asker) => line(nameOfAsker(asker))),
    arguments: shown,
    ...(shownAnswers === undefined ? {} : { answers: shownAnswers }),
    masked: shown.redacted + (shownAnswers?.redacted ?? 0),
    decisions: question.decisions,
    quorum: question.quorum,
    binding: question.binding,
  };
}

export function renderArguments(
  canonicalArguments: string,
  masks: readonly Mask[] = [],
  nameSecret?: RenderOptions['nameSecret'],
): RenderedArguments {
  const parsed = parseStrictJson(canonicalArguments);
  const writer = new ValueWriter(nameSecret);
  const text = parsed.ok
    ? writer.write(parsed.value, treeOf(masks), '')
    : writer.writeUnread(canonicalArguments, masks);
  return {
    text,
    bytes: Buffer.byteLength(canonicalArguments),
    ...(writer.redacted > 0 ? {} : { digest: argumentsDigest(canonicalArguments) }),
    redacted: writer.redacted,
  };
}

type Mask = Omit<QuestionMask, 'of'>;
type Spans = NonNullable<QuestionMask['spans']>;

/** Masks in a tree, by the steps of their pointers. A value without a mask in or below it has no node. */
interface MaskNode {
  mask?: Spans | 'whole';
  readonly below: Map<string, MaskNode>;
}

/**
 * Builds a tree of masks, which is walked together with the arguments. A map by pointer would need the full pointer of every value: it
 * repeats all keys above the value, and the length of a key is not limited.
 */
function treeOf(masks: readonly Mask[]): MaskNode | undefined {
  if (masks.length === 0) return undefined;
  const root: MaskNode = { below: new Map() };
  for (const { pointer, spans } of masks) {
    let node = root;
    const steps = parsePointer(pointer);
    for (const { name } of steps ?? []) {
      const next: MaskNode = node.below.get(name) ?? { below: new Map() };
      node.below.set(name, next);
      node = next;
    }
    // A mask whose pointer cannot be parsed masks everything.
    node.mask = steps === undefined ? 'whole' : (spans ?? 'whole');
  }
  return root;
}

/** Writes values in canonical order: keys sorted by UTF-16 units, numbers as in RFC 8785. */
class ValueWriter {
  redacted = 0;
  readonly #nameSecret: RenderOptions['nameSecret'];

  constructor(nameSecret: RenderOptions['nameSecret']) {
    this.#nameSecret = nameSecret;
  }

  write(value: JsonValue, node: MaskNode | undefined, indent: string): string {
    const mask = node?.mask;
    // A mark has no quotes, so no text in the arguments can pass for a masked value.
    if (mask === 'whole') return this.#mark(typeof value === 'string' ? value : canonicalJson(value));
    if (Array.isArray(value)) return this.#list(value, node, indent);
    if (isJsonObject(value)) return this.#object(value, node, indent);
    if (typeof value !== 'string') return canonicalJson(value);
    return mask === undefined ? quote(value) : this.#text(value, mask);
  }

  /**
   * Renders answers that cannot be parsed: they may be nested one level deeper than the parser allows. The text is shown anyway, because it
   * is what would run. A pointer cannot name a part of unparsed text, so any mask masks the whole text.
   */
  writeUnread(text: string, masks: readonly Mask[]): string {
    return masks.length > 0 ? this.#mark(text) : escapeHidden(text);
  }

  #text(text: string, spans: Spans): string {
    let shown = '';
    let from = 0;
    for (const [start, end] of spans) {
      shown += quote(text.slice(from, start)).slice(1, -1) + this.#mark(text.slice(start, end));
      from = end;
    }
    return `"${shown}${quote(text.slice(from)).slice(1)}`;
  }

  #mark(secret: string): string {
    this.redacted += 1;
    const name = this.#nameSecret === undefined ? '' : ` ${this.#nameSecret(secret)}`;
    const length = Array.from(secret).length;
    return `[secret${name}, ${length} ${length === 1 ? 'character' : 'characters'}]`;
  }

  #list(values: readonly JsonValue[], node: MaskNode | undefined, indent: string): string {
    const inner = `${indent}  `;
    const lines = values.map((value, index) => inner + this.write(value, node?.below.get(String(index)), inner));
    return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n${indent}]`;
  }

  #object(object: JsonObject, node: MaskNode | undefined, indent: string): string {
    const inner = `${indent}  `;
    const lines = Object.keys(object)
      .sort()
      .map((key) => {
        const value = this.write(object[key]!, node?.below.get(key), inner);
        return `${inner}${quote(key)}: ${value}`;
      });
    return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n${indent}}`;
  }
}

/**
 * Writes a text as a JSON string with the same value. In a text that looks like a mark the bracket is escaped, so that only real marks look
 * like marks.
 */
function quote(text: string): string {
  return toVisibleJsonString(text).replaceAll(/\[(?=secret\b)/gi, '\\u005b');
}
