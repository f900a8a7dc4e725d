import { isStandardSchema } from '../../modules/authoring/standard-schema.ts';
import { LIMITS } from '../../domain/call/call.ts';
import type { WriteBacks } from '../../domain/outcome/content.ts';
import {
  isInputKind,
  type InputKind,
  type InputRequest,
  type RequiredInput,
  type SampleMessage,
} from '../../domain/call/input.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isUri } from '../../base/uri-template.ts';
import type { RunEnding } from '../../domain/ports/tool-runner.ts';
import { encode } from '../../base/message-pack.ts';
import { findFormFault } from './check-form.ts';
import { makePlain, NotPlain, SizeBudget, TooLarge } from './make-plain.ts';
import { plainWriteBacks } from './plain-blocks.ts';

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MAX_REQUESTS = 20;
const MAX_MESSAGES = 100;
const MAX_TOKENS = 1_000_000;

/** Reads the requests that a tool made, or that its process reports. Throws NotPlain or TooLarge. */
export function plainRequests(asked: unknown): Record<string, InputRequest> {
  if (typeof asked !== 'object' || asked === null) throw new NotPlain('the requests are not an object');
  const entries = Object.entries(asked);
  if (entries.length === 0 || entries.length > MAX_REQUESTS)
    throw new NotPlain(`there are ${entries.length} requests; 1 to ${MAX_REQUESTS} are possible`);
  const budget = new SizeBudget(LIMITS.inputBytes);
  return Object.fromEntries(
    entries.map(([name, request]: [string, unknown]) => {
      if (!NAME.test(name)) throw new NotPlain(`"${name.slice(0, 60)}" is no name of a request`);
      return [name, plainRequest(request, name, budget)];
    }),
  );
}

function plainRequest(asked: unknown, name: string, budget: SizeBudget): InputRequest {
  if (typeof asked !== 'object' || asked === null) throw new NotPlain(`${name} is no request`);
  const { schema, ...rest } = asked as Record<string, unknown>;
  const plain = makePlain(rest, budget, name) as JsonObject;
  switch (plain['kind']) {
    case 'elicit':
      return { kind: 'elicit', message: textOf(plain, 'message', name), schema: plainForm(schema, name, budget) };
    case 'elicit-url':
      return plainPage(plain, name);
    case 'sample':
      return plainSample(plain, name);
    case 'roots':
      return { kind: 'roots' };
    default:
      throw new NotPlain(`${name}.kind is none of elicit, elicit-url, sample and roots`);
  }
}

function plainForm(schema: unknown, name: string, budget: SizeBudget): JsonObject {
  const standard = isStandardSchema(schema) ? schema['~standard'].jsonSchema : undefined;
  if (isStandardSchema(schema) && standard === undefined)
    throw new NotPlain(`${name}.schema gives no JSON Schema; wrap one with jsonSchema()`);
  const written = makePlain(standard?.input({ target: 'draft-2020-12' }) ?? schema, budget, `${name}.schema`);
  if (!isJsonObject(written)) throw new NotPlain(`${name}.schema is no schema`);
  const { $schema: _dialect, ...form } = written;
  const fault = findFormFault(form);
  if (fault !== undefined) throw new NotPlain(`${name}.schema is no form: ${fault}`);
  return form;
}

function plainPage(plain: JsonObject, name: string): InputRequest {
  const { url, id = name } = plain;
  if (!isUri(url) || !/^https?:/i.test(url)) throw new NotPlain(`${name}.url is no http or https URL`);
  if (typeof id !== 'string') throw new NotPlain(`${name}.id is not a text`);
  return { kind: 'elicit-url', message: textOf(plain, 'message', name), url, id };
}

function plainSample(plain: JsonObject, name: string): InputRequest {
  const { messages, maxTokens, system, temperature, stopSequences } = plain;
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES)
    throw new NotPlain(`${name}.messages is no list of 1 to ${MAX_MESSAGES} messages`);
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1 || maxTokens > MAX_TOKENS)
    throw new NotPlain(`${name}.maxTokens is no number from 1 to ${MAX_TOKENS}`);
  const stops = Array.isArray(stopSequences) ? { stopSequences: stopSequences.map(String) } : {};
  return {
    kind: 'sample',
    messages: messages.map((message, at) => plainMessage(message, `${name}.messages[${at}]`)),
    maxTokens,
    ...(typeof system === 'string' ? { system } : {}),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...stops,
  };
}

function plainMessage(message: JsonValue, path: string): SampleMessage {
  const { role, text } = isJsonObject(message) ? message : ({} as JsonObject);
  if ((role !== 'user' && role !== 'assistant') || typeof text !== 'string')
    throw new NotPlain(`${path} is not { role: 'user' | 'assistant', text }`);
  return { role, text };
}

function textOf(plain: JsonObject, member: string, name: string): string {
  const text = plain[member];
  if (typeof text !== 'string' || text.trim() === '') throw new NotPlain(`${name}.${member} is not a text`);
  return text;
}

/** The ending of a run that asked for input. `unavailable`: the kinds of input that the caller said it cannot provide. */
export function endingOfInput(
  required: RequiredInput,
  unavailable: readonly InputKind[],
  writeBacks: WriteBacks,
  maxBytes: number,
): RunEnding {
  const ending: RunEnding = { kind: 'input-required', required, unavailable, writeBacks };
  const bytes = encode(ending).byteLength;
  return bytes > maxBytes ? { kind: 'too-large', bytes, limit: maxBytes } : ending;
}

/** The ending of a run that asked for input, as a tool's process reported it. It could be forged there, so it is checked again. */
export function endingOfReceivedInput(fields: Record<string, unknown>, maxBytes: number): RunEnding {
  try {
    const { requests, state, problems } = (fields['required'] ?? {}) as Record<string, unknown>;
    const stateBytes = typeof state === 'string' ? Buffer.byteLength(state) : 0;
    if (stateBytes > LIMITS.inputStateBytes) throw new TooLarge(stateBytes, LIMITS.inputStateBytes);
    const budget = new SizeBudget(maxBytes);
    const required: RequiredInput = {
      requests: plainRequests(requests),
      ...(typeof state === 'string' ? { state } : {}),
      ...(problems === undefined ? {} : { problems: plainProblems(makePlain(problems, budget, 'problems')) }),
    };
    const kinds = Array.isArray(fields['unavailable']) ? fields['unavailable'].filter(isInputKind) : [];
    return endingOfInput(required, kinds, plainWriteBacks(fields['writeBacks'], budget), maxBytes);
  } catch (error) {
    if (error instanceof TooLarge) return { kind: 'too-large', bytes: error.bytes, limit: maxBytes };
    return { kind: 'unserialisable', problem: error instanceof NotPlain ? error.message : 'reading it threw' };
  }
}

function plainProblems(problems: JsonValue): Record<string, readonly string[]> {
  if (!isJsonObject(problems)) throw new NotPlain('problems is not an object');
  return Object.fromEntries(
    Object.entries(problems).map(([name, list]) => [name, (Array.isArray(list) ? list : []).map(String)]),
  );
}
