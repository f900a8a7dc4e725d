import { planeError } from '../../domain/errors/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { URI_LIMITS } from '../../base/uri-template.ts';
import { idOf, rejectMessage, RPC, type JsonRpcMessage } from './json-rpc.ts';
import { invalidParams } from './protocol-problem.ts';

/** Max subscriptions of one session or one stream. With URIs of the max length they take 2 MiB. */
const MAX_SUBSCRIPTIONS = 256;

const TOO_LONG = `it is longer than ${URI_LIMITS.uriLength} characters`;
const TOO_MANY = `there are ${MAX_SUBSCRIPTIONS} subscriptions at most; end one`;
const CODE = { code: planeError('SUBSCRIPTION_REFUSED', { problem: TOO_MANY }).code };

/** 2025: adds one subscription to a session. Throws the error that the client gets; a rejected URI is not stored. */
export function addSubscription(subscriptions: Set<string>, uri: string): void {
  if (uri.length > URI_LIMITS.uriLength) throw invalidParams(`uri: ${TOO_LONG}`, CODE);
  if (!subscriptions.has(uri) && subscriptions.size >= MAX_SUBSCRIPTIONS) throw invalidParams(`uri: ${TOO_MANY}`, CODE);
  subscriptions.add(uri);
}

/** 2026: checks the subscriptions that a stream starts with. Undefined means that they are accepted. The SDK checks their types. */
export function refuseSubscriptions(message: JsonRpcMessage): Response | undefined {
  const { params } = message;
  const asked = isJsonObject(params) ? params['notifications'] : undefined;
  const uris = isJsonObject(asked) ? asked['resourceSubscriptions'] : undefined;
  if (!Array.isArray(uris)) return undefined;
  const isTooLong = uris.some((uri) => typeof uri === 'string' && uri.length > URI_LIMITS.uriLength);
  const problem = isTooLong ? TOO_LONG : uris.length > MAX_SUBSCRIPTIONS ? TOO_MANY : undefined;
  if (problem === undefined) return undefined;
  const text = `Invalid params: resourceSubscriptions: ${problem}.`;
  return rejectMessage(400, RPC.invalidParams, text, { id: idOf(message), data: CODE });
}
