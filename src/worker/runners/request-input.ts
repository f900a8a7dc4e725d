import type { AskedInput, RequestInputOptions, ToolInput } from '../../modules/authoring/input-requests.ts';
import { LIMITS } from '../../domain/call/call.ts';
import type { GivenInput, InputKind, InputRequest, RequiredInput } from '../../domain/call/input.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { checkResponse } from './check-response.ts';
import { copyJson } from './copy-json.ts';
import { makePlain, SizeBudget } from './make-plain.ts';
import { plainRequests } from './plain-input.ts';

/** Thrown through the tool's code to end its run: input that the tool asked for is missing. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired';
  readonly required: RequiredInput;
  readonly unavailable: readonly InputKind[];

  constructor(required: RequiredInput, unavailable: readonly InputKind[]) {
    super('This call needs an answer of its caller. Let this error pass.');
    this.required = required;
    this.unavailable = unavailable;
  }
}

/** Thrown through the tool's code to end its run: a form's schema changes an answer, so the tool would get something that was not shown. */
export class AnswersTransformed extends Error {
  override readonly name = 'AnswersTransformed';
  readonly changes: readonly string[];

  constructor(changes: readonly string[]) {
    super('The schema of a form changes its answer. Let this error pass.');
    this.changes = changes;
  }
}

interface InputFacts {
  readonly input?: GivenInput;
}

const MAX_OWN_STATE_BYTES = 64 * 1024;

/** The input of each run, made when it is first needed. Most runs never need it, so it is no member of their facts. */
const inputs = new WeakMap<InputFacts, CallInput>();

export function inputOf(facts: InputFacts): CallInput {
  let input = inputs.get(facts);
  if (input === undefined) inputs.set(facts, (input = new CallInput(facts)));
  return input;
}

/**
 * The input of one call. A tool that asks twice is run three times, and each time it asks for everything from the start. Answers of earlier
 * rounds come back in the state, and are checked again like everything that the caller sends.
 */
export class CallInput {
  readonly #facts: InputFacts;
  readonly #responses: JsonObject;
  readonly #state: JsonValue | undefined;
  /** Answers that this run has used. */
  readonly #used = new Map<string, JsonValue>();

  constructor(facts: InputFacts) {
    this.#facts = facts;
    const kept = readState(facts);
    this.#responses = kept === 'foreign' ? {} : { ...kept.answers, ...facts.input?.responses };
    this.#state = kept === 'foreign' ? undefined : kept.state;
  }

  /** What the tool sees of the input; undefined if the call brought none. */
  get shown(): ToolInput | undefined {
    const { input } = this.#facts;
    if (input === undefined) return undefined;
    return {
      ...(input.kinds === undefined ? {} : { kinds: [...input.kinds] }),
      responses: copyJson(this.#responses),
      ...(this.#state === undefined ? {} : { state: copyJson(this.#state) }),
    };
  }

  /** Returns the answers, or throws InputRequired. Other errors, such as TypeError, are mistakes of the tool author. */
  request(asked: Readonly<Record<string, AskedInput>>, { state }: RequestInputOptions = {}): Record<string, unknown> {
    const requests = plainRequests(asked);
    const answers: Record<string, unknown> = {};
    const open: Record<string, InputRequest> = {};
    const problems: Record<string, readonly string[]> = {};
    for (const [name, request] of Object.entries(requests)) {
      const response = Object.hasOwn(this.#responses, name) ? this.#responses[name]! : undefined;
      const schema = (asked[name] as { readonly schema?: unknown }).schema;
      const checked = response === undefined ? undefined : checkResponse(request, schema, copyJson(response));
      if (checked?.kind === 'changed')
        throw new AnswersTransformed(checked.changes.map((change) => `${name}.${change}`));
      if (checked?.kind === 'answer') {
        answers[name] = checked.answer;
        this.#used.set(name, response!);
        continue;
      }
      open[name] = request;
      if (checked !== undefined) problems[name] = checked.problems;
    }
    if (Object.keys(open).length === 0) return answers;
    throw new InputRequired(
      { requests: open, ...this.#writeState(state), ...(Object.keys(problems).length === 0 ? {} : { problems }) },
      this.#unavailable(open),
    );
  }

  #unavailable(open: Readonly<Record<string, InputRequest>>): readonly InputKind[] {
    const kinds = this.#facts.input?.kinds;
    if (kinds === undefined) return [];
    return [...new Set(Object.values(open).map(({ kind }) => kind))].filter((kind) => !kinds.includes(kind));
  }

  #writeState(own: JsonValue | undefined): { state?: string } {
    if (own === undefined && this.#used.size === 0) return {};
    const kept: KeptState = {
      answers: Object.fromEntries(this.#used),
      ...(own === undefined ? {} : { state: makePlain(own, new SizeBudget(MAX_OWN_STATE_BYTES), 'state') }),
    };
    const state = canonicalJson(kept as unknown as JsonObject);
    if (Buffer.byteLength(state) > LIMITS.inputStateBytes)
      throw new RangeError(`ctx.requestInput: answers and state have more than ${LIMITS.inputStateBytes} bytes`);
    return { state };
  }
}

interface KeptState {
  readonly answers: JsonObject;
  readonly state?: JsonValue;
}

/** Reads the state that came with the call. `foreign`: this code did not write it, so the call starts from the beginning. */
function readState(facts: InputFacts): KeptState | 'foreign' {
  const text = facts.input?.state;
  if (text === undefined) return { answers: {} };
  try {
    const kept: unknown = JSON.parse(text);
    if (!isJsonObject(kept)) return 'foreign';
    const { answers, state } = kept;
    return {
      answers: answers !== undefined && isJsonObject(answers) ? answers : {},
      ...(state === undefined ? {} : { state }),
    };
  } catch {
    return 'foreign';
  }
}
