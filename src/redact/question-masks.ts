import type { QuestionMask } from '../domain/approval.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import type { ToolDeclaration } from '../domain/tool.ts';
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
 * What a question hides until an approver reveals it: values that the tool's schema marks secret, and credentials. The attack: the
 * writer of the arguments dresses a command up as a secret, and the approver allows what was not shown. So a credential is an unbroken
 * span of CREDENTIAL, which cannot hold a command with an argument, and free text of a privileged tool is never masked. References to
 * secrets, and the keys of objects, are always shown.
 */
export function findQuestionMasks(canonical: string, { inputSchema, privileged }: MaskedTool): Place[] {
  const schema = secretsOfSchema(inputSchema);
  if (schema === undefined && (privileged || !mayHoldSecret(canonical))) return [];
  const finder = new MaskFinder(privileged);
  finder.look(JSON.parse(canonical) as JsonValue, { schema, isNamed: false, pointer: '' });
  return finder.found;
}

/** No blank, quote, backslash, control or non-ASCII character, and nothing that a shell acts on. */
const CREDENTIAL = /^[A-Za-z0-9._~+/=:@%-]+$/;
/** A line of a key file. Shorter lines are shown: a word that could be a command has no such length. */
const KEY_LINE = /^[A-Za-z0-9+/=]{40,}$/gm;

interface Spot {
  readonly schema: SchemaPlace | undefined;
  /** The member's name, or the flag before it, says that this is a secret. */
  readonly isNamed: boolean;
  readonly pointer: string;
}

class MaskFinder {
  readonly found: Place[] = [];
  readonly #onlySchema: boolean;

  constructor(onlySchema: boolean) {
    this.#onlySchema = onlySchema;
  }

  look(value: JsonValue, spot: Spot): void {
    if (spot.schema?.isSecret === true) this.#whole(value, spot.pointer);
    else if (Array.isArray(value)) this.#list(value, spot);
    else if (isJsonObject(value)) this.#object(value, spot);
    else if (this.#onlySchema) return;
    else if (typeof value === 'string') this.#text(value, spot);
    else if (typeof value === 'number' && spot.isNamed) this.#whole(value, spot.pointer);
  }

  /** The operator's module calls it a secret, whatever it holds. Nothing, yes, no and references hide nothing. */
  #whole(value: JsonValue, pointer: string): void {
    if (value === null || typeof value === 'boolean') return;
    if (typeof value === 'string' ? isHarmless(value) : isEmpty(value)) return;
    this.found.push({ pointer });
  }

  #text(text: string, { isNamed, pointer }: Spot): void {
    if (isNamed && CREDENTIAL.test(text)) return this.#whole(text, pointer);
    this.#spans(findSpans(text), pointer);
  }

  #spans(spans: readonly Span[], pointer: string): void {
    if (spans.length > 0) this.found.push({ pointer, spans });
  }

  #object(object: JsonObject, { schema, isNamed, pointer }: Spot): void {
    const isNamedValue = namesSecret(object);
    for (const key of Object.keys(object)) {
      this.look(object[key]!, {
        schema: schema?.member(key),
        isNamed: isNamed || isSecretKey(key) || (isNamedValue && key === 'value'),
        pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
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

/** The password of `user:password`, if it is a credential. */
function passwordOf(login: string): Span | undefined {
  const start = login.indexOf(':') + 1;
  const password = login.slice(start);
  return CREDENTIAL.test(password) && !isHarmless(password) ? [start, login.length] : undefined;
}

/** Each span is judged alone: next to free text, a credential is still one, and the text is still shown. */
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
