import type { EffectAnswer, EffectBody, EffectRecord } from '../domain/platform/platform-effect.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { decode } from '../base/message-pack.ts';
import { toSafeJson } from '../base/escape-text.ts';

const SHORT = 60;

function bodyOfEffect({ body }: EffectRecord): EffectBody | undefined {
  return body === undefined ? undefined : (decode(body) as EffectBody);
}

/** Describes an effect in one line. The text of a tool is not escaped here; the terminal makes hidden characters visible when it prints the line. */
export function summariseEffect(effect: EffectRecord): string {
  const text = textOf(bodyOfEffect(effect));
  if (effect.state === 'failed') return effect.problem ?? text;
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

function textOf(body: EffectBody | undefined): string {
  if (body === undefined) return '(not kept)';
  switch (body.kind) {
    case 'send':
      return body.message.text;
    case 'edit':
      return `${body.message.text} (edit)`;
    case 'react':
      return `${body.reaction} (reaction)`;
    case 'file':
      return `${body.file.name} (${body.file.bytes.byteLength} bytes)`;
    case 'call':
      return `${body.operation} ${toSafeJson(body.arguments)}`;
    case 'result':
      return '(outcome of the call)';
  }
}

/** All facts of an effect, as JSON. A file is shown by its name, media type and size. */
export function describeEffect(effect: EffectRecord): JsonObject {
  const { body: _, answer, ...facts } = effect;
  const body = bodyOfEffect(effect);
  const shown =
    body?.kind === 'file'
      ? { ...body, file: { name: body.file.name, mediaType: body.file.mediaType, bytes: body.file.bytes.byteLength } }
      : body;
  const said = answer === undefined ? undefined : (decode(answer) as EffectAnswer);
  const described = {
    ...facts,
    ...(shown === undefined ? {} : { body: shown }),
    ...(said === undefined ? {} : { answer: said }),
  };
  return isJsonObject(described) ? described : {};
}
