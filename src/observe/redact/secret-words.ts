import { BoundedCache } from '../../base/bounded-cache.ts';

const WORDS: ReadonlySet<string> = new Set([
  'pass',
  'password',
  'passwords',
  'passwd',
  'passcode',
  'passphrase',
  'pwd',
  'secret',
  'secrets',
  'token',
  'apikey',
  'apikeys',
  'auth',
  'oauth',
  'authorization',
  'authorisation',
  'credential',
  'credentials',
  'creds',
  'cookie',
  'cookies',
  'jwt',
  'bearer',
]);
/** A word of a name that ends with one of these also shows a secret: compounds such as `dbpassword` are written as one word. */
const ENDINGS = [
  'password',
  'passwd',
  'passphrase',
  'apikey',
  'secretkey',
  'privatekey',
  'accesskey',
  'clientsecret',
  'accesstoken',
  'apitoken',
  'authtoken',
  'bottoken',
  'idtoken',
  'refreshtoken',
  'sessiontoken',
];
/** The word "key" or "keys" shows a secret only after one of these words. */
const KINDS_OF_KEY: ReadonlySet<string> = new Set([
  'access',
  'account',
  'api',
  'encryption',
  'master',
  'private',
  'signing',
  'ssh',
]);
const KEYS: ReadonlySet<string> = new Set(['key', 'keys']);

const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;
const MAX_KEY_LENGTH = 256;
/** Cache for the whole process. Every key of every redacted value is looked up, and tools use the same few names. */
const answers = new BoundedCache<string, boolean>(4096);

/**
 * Whether a name, read word by word, shows that its value is a secret. `apiKey`, `api_key` and `X-Auth-Token` do; `max_tokens`, `author`
 * and `tokenizer` do not. Only the last `MAX_KEY_LENGTH` characters of a longer name are read.
 */
export function isSecretKey(key: string): boolean {
  if (key.length > MAX_KEY_LENGTH) return hasSecretWord(key.slice(-MAX_KEY_LENGTH));
  return answers.getOrMake(key, hasSecretWord);
}

/** Whether a name ends with a word for a password. The value of such a name always counts as a password. */
export function isPasswordKey(key: string): boolean {
  return /pass(?:word|wd|code|phrase)?$|pwd$/i.test(key.slice(-MAX_KEY_LENGTH));
}

function hasSecretWord(key: string): boolean {
  let before = '';
  for (const [found] of key.matchAll(WORD)) {
    const word = found.toLowerCase();
    if (WORDS.has(word) || (KEYS.has(word) && KINDS_OF_KEY.has(before))) return true;
    if (ENDINGS.some((ending) => word.endsWith(ending))) return true;
    before = word;
  }
  return false;
}
