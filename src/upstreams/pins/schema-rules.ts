import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { foldText } from './instruction-rules.ts';

/** The members by which a schema says that its values are secret. Approvers then see a mask instead of the value. */
export function findConcealment(schema: JsonObject): string | undefined {
  if (schema['writeOnly'] === true) return 'writeOnly';
  if (schema['format'] === 'password') return 'format';
  return Object.keys(schema).find((name) => SECRET_MARK.test(name) && schema[name] !== false);
}

const SECRET_MARK = /^x-(?:secret|sensitive|hidden|private|password|masked|redacted?)$/iu;

const SECRETS =
  /^(?:pass(?:word|phrase|wd)|secrets?|api key|api token|access token|auth token|session token|bearer token|token|private key|ssh key|secret key|credentials?|cookies?|env vars|environment variables)$/u;
const CONVERSATION =
  /^(?:conversation|conversation history|chat history|message history|chat log|transcript|full context|conversation context|previous messages|system prompt|system message|side ?notes?|scratch ?pad|chain of thought|user prompt|original prompt|tools? list|available tools)$/u;
const ASKED =
  /\b(?:(?:conversation|chat|message) (?:history|transcript|log)|(?:entire|full|whole|complete) (?:conversation|chat|context)|(?:all|every|the) (?:previous|prior|earlier) (?:user )?messages?|system prompt|chain of thought|(?:your|the user['’]s) (?:api keys?|passwords?|credentials|private keys?|ssh keys?|secrets?|tokens?))\b/iu;

/** Why an argument asks for something that a tool has no business to know. Undefined if it does not. */
export function findRequest(name: string, schema: JsonValue | undefined): string | undefined {
  const spaced = foldText(
    name
      .slice(0, 200)
      .replaceAll(/([a-z\d])([A-Z])/gu, '$1 $2')
      .replaceAll(/[_.-]+/gu, ' '),
  );
  const words = spaced.trim().toLowerCase();
  if (SECRETS.test(words)) return 'The argument asks for a secret.';
  if (CONVERSATION.test(words)) return 'The argument asks for the conversation or the thoughts of the model.';
  if (!isJsonObject(schema)) return undefined;
  const texts = ['title', 'description'].map((member) => schema[member]).filter((text) => typeof text === 'string');
  const isAsked = texts.some((text) => ASKED.test(foldText(text)));
  return isAsked ? 'The text of the argument asks for the conversation or for secrets.' : undefined;
}
