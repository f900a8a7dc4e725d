import type { QuestionMask } from '../../domain/policy/approval.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { escapeStep } from '../../base/json-pointer.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { findAssignments, isHarmless } from './find-assignments.ts';
import { findCredentials, findPrivateKeys, type Span } from './find-credentials.ts';
import { isFlagValue, isLogin, namesSecret } from './list-secrets.ts';
import { joinSpans } from './mask-text.ts';
import { mayHoldSecret } from './may-hold-secret.ts';
import { secretsOfSchema, type SchemaPlace } from './schema-secrets.ts';
import { isSecretKey } from './secret-words.ts';

type Place = Omit<QuestionMask, 'of'>;
export type MaskedTool = Pick<ToolDeclaration, 'inputSchema' | 'privileged'>;

/**
 * Finds what a question hides until an approver reveals it: values that the tool's schema marks secret, and credentials. The attack: the
 * author of the arguments disguises a command as a secret, and the approver allows it without seeing it. So only an unbroken span of
 * CREDENTIAL characters counts as a credential, which cannot hold a command with an argument, and free text of a privileged tool is never
 * masked. References to secrets and the keys of objects are always shown.
 */
export function findQuestionMasks(canonical: string, { inputSchema, privileged }: MaskedTool): Place[] {
  const schema = secretsOfSchema(inputSchema);
  if (schema === undefined && (privileged || !mayHoldSecret(canonical))) return [];
  const finder = new MaskFinder(privileged);
  finder.look(JSON.parse(canonical) as JsonValue, { schema, isNamed: false, pointer: '' });
  return finder.isFull ? [{ pointer: '' }] : finder.found;
}

/**
 * If the list of masks would be larger than this, one mask hides everything instead. The attack: below one key of 500 kB every number is
 * masked, and each mask repeats that key in its pointer. A call of half a megabyte would make a question of hundreds of megabytes.
 */
const MAX_MASKS_SIZE = 64 * 1024;
/** Approximate size of one mask, and of one of its spans, as JSON. */
const MASK_SIZE = 48;
const SPAN_SIZE = 16;

/** No blank, quote, backslash, control or non-ASCII character, and no character that a shell interprets. */
const CREDENTIAL = /^[A-Za-z0-9._~+/=:@%-]+$/;
/** A line of a key file: at least 40 characters, because no word that could be a command is that long. Shorter lines are shown. */
const KEY_LINE = /^[A-Za-z0-9+/=]{40,}$/gm;

interface Spot {
  readonly schema: SchemaPlace | undefined;
  /** The member's name, or the flag before it, shows that this is a secret. */
  readonly isNamed: boolean;
  readonly pointer: string;
}

class MaskFinder {
  readonly found: Place[] = [];
  /** True if the masks together would be too large. Then the rest of the value is not searched. */
  isFull = false;
  #size = 0;
  readonly #onlySchema: boolean;

  constructor(onlySchema: boolean) {
    this.#onlySchema = onlySchema;
  }

  look(value: JsonValue, spot: Spot): void {
    if (this.isFull) return;
    if (spot.schema?.isSecret === true) this.#whole(value, spot.pointer);
    else if (Array.isArray(value)) this.#list(value, spot);
    else if (isJsonObject(value)) this.#object(value, spot);
    else if (this.#onlySchema) return;
    else if (typeof value === 'string') this.#text(value, spot);
    else if (typeof value === 'number' && spot.isNamed) this.#whole(value, spot.pointer);
  }

  /**
   * Masks a whole value that its schema or its name declares secret, whatever it contains. Null, booleans, empty values and references
   * contain no secret and stay visible.
   */
  #whole(value: JsonValue, pointer: string): void {
    if (value === null || typeof value === 'boolean') return;
    if (typeof value === 'string' ? isHarmless(value) : isEmpty(value)) return;
    this.#add({ pointer });
  }

  #add(mask: Place): void {
    this.#size += MASK_SIZE + mask.pointer.length + SPAN_SIZE * (mask.spans?.length ?? 0);
    this.isFull = this.#size > MAX_MASKS_SIZE;
    if (!this.isFull) this.found.push(mask);
  }

  #text(text: string, { isNamed, pointer }: Spot): void {
    if (isNamed && CREDENTIAL.test(text)) return this.#whole(text, pointer);
    this.#spans(findSpans(text), pointer);
  }

  #spans(spans: readonly Span[], pointer: string): void {
    if (spans.length > 0) this.#add({ pointer, spans });
  }

  #object(object: JsonObject, { schema, isNamed, pointer }: Spot): void {
    const isNamedValue = namesSecret(object);
    for (const key of Object.keys(object)) {
      this.look(object[key]!, {
        schema: schema?.member(key),
        isNamed: isNamed || isSecretKey(key) || (isNamedValue && key === 'value'),
        pointer: `${pointer}/${escapeStep(key)}`,
      });
    }
  }

  #list(list: readonly JsonValue[], { schema, isNamed, pointer }: Spot): void {
    for (const [index, item] of list.entries()) {
      const below = { schema: schema?.item(index), pointer: `${pointer}/${index}` };
      const password = isLogin(list, index) && below.schema?.isSecret !== true ? passwordOf(item as string) : undefined;
      if (password !== undefined && !this.#onlySchema) this.#spans([password], below.pointer);
      else this.look(item, { ...below, isNamed: isNamed || isFlagValue(list, index) });
    }
  }
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The span of the password in `user:password`, if it is a credential. */
function passwordOf(login: string): Span | undefined {
  const start = login.indexOf(':') + 1;
  const password = login.slice(start);
  return CREDENTIAL.test(password) && !isHarmless(password) ? [start, login.length] : undefined;
}

/**
 * Finds the credentials in a text. Each span is judged by itself, so a credential within free text is masked and the text around it is
 * shown.
 */
function findSpans(text: string): Span[] {
  if (!mayHoldSecret(text)) return [];
  const spans = [...findCredentials(text), ...findAssignments(text)];
  const credentials = spans.filter(([start, end]) => CREDENTIAL.test(text.slice(start, end)));
  const keyLines = findPrivateKeys(text).flatMap(([start, end]) =>
    Array.from(text.slice(start, end).matchAll(KEY_LINE), ({ index, 0: line }): Span => {
      return [start + index, start + index + line.length];
    }),
  );
  return joinSpans([...credentials, ...keyLines]);
}
