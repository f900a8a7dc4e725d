import { describe, expect, it } from 'vitest';
import { maskText } from './mask-text.ts';

const mask = (text: string): string => maskText(text, () => '[secret]');

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----';

describe('a masked text', () => {
  it.each([
    ['curl -H "Authorization: Bearer abc.def-123" https://x', 'curl -H "Authorization: Bearer [secret]" https://x'],
    ["curl -H 'X-Api-Key: hush' https://x", "curl -H 'X-Api-Key: [secret]' https://x"],
    ['curl -u ann:hush https://x', 'curl -u ann:[secret] https://x'],
    ['curl -uann:hush https://x', 'curl -uann:[secret] https://x'],
    ['curl --user "ann:hush" x', 'curl --user "ann:[secret]" x'],
    ['docker run -u 1000:1000 x', 'docker run -u 1000:1000 x'],
    ['tool --password hush --verbose', 'tool --password [secret] --verbose'],
    ['tool --password=hush', 'tool --password=[secret]'],
    ['tool --api-key "hu sh" x', 'tool --api-key "[secret]" x'],
    ['tool --token --verbose', 'tool --token --verbose'],
    ['tool --max-tokens 100', 'tool --max-tokens 100'],
    ['PASSWORD=hush make', 'PASSWORD=[secret] make'],
    ['export DB_PASSWORD="hu sh"; x', 'export DB_PASSWORD="[secret]"; x'],
    ['PASSWORD=$OTHER x', 'PASSWORD=$OTHER x'],
    ['PASSWORD=${secret:DB_PASSWORD} x', 'PASSWORD=${secret:DB_PASSWORD} x'],
    ['login with secret:GITHUB_TOKEN please', 'login with secret:GITHUB_TOKEN please'],
    [
      'write secret::GITHUB_TOKEN or $${secret:GITHUB_TOKEN}.',
      'write secret::GITHUB_TOKEN or $${secret:GITHUB_TOKEN}.',
    ],
    ['secret::hunter2', 'secret:[secret]'],
    ['secret: hunter2', 'secret: [secret]'],
    ['password: correcthorse', 'password: [secret]'],
    ['invalid token: expected text', 'invalid token: expected text'],
    ['https://x/?api_key=hush&page=2', 'https://x/?api_key=[secret]&page=2'],
    ['{"password":"hu\\"sh","page":2}', '{"password":"[secret]","page":2}'],
    ['{\\"password\\":\\"hush\\",\\"page\\":2}', '{\\"password\\":\\"[secret]\\",\\"page\\":2}'],
    ['Cookie: a=b; c=d\nAccept: x', 'Cookie: [secret]\nAccept: x'],
    ['sshpass -p hush ssh x', 'sshpass -p [secret] ssh x'],
    ['mysql -u root -phush db', 'mysql -u root -p[secret] db'],
    ['postgres://ann:hush@db/x', 'postgres://ann:[secret]@db/x'],
    ['https://ghtokenlongenough99@github.com/x', 'https://[secret]@github.com/x'],
    ['ssh://git@github.com/x', 'ssh://git@github.com/x'],
    ['see https://x/a?b=c@d', 'see https://x/a?b=c@d'],
    [`id ${JWT}.`, 'id [secret].'],
    [`a ${PEM} b`, 'a [secret] b'],
    ['-----BEGIN PRIVATE KEY-----\nMII', '[secret]'],
    [
      '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
    ],
    ['key sk-proj-abcdefghijklmnop1234', 'key [secret]'],
    ['sk-learn-is-a-library-for-python', 'sk-learn-is-a-library-for-python'],
    ['risk-assessment-1234567890123456', 'risk-assessment-1234567890123456'],
    ['ghp_abcdefghijklmnop1234', '[secret]'],
    ['glpat-abcdefghijklmnop1234', '[secret]'],
    ['xoxb-123456789012-abcdefgh', '[secret]'],
    ['AKIAIOSFODNN7EXAMPLE', '[secret]'],
    ['AIzaSyA1234567890abcdefghijk', '[secret]'],
    ['123456789:AAabcdefghijklmnopqrstuvwxyz0123456', '[secret]'],
    ['a bearer instrument is a document', 'a bearer instrument is a document'],
    ['bearer abcdefgh12345', 'bearer [secret]'],
  ])('%s', (text, expected) => {
    expect(mask(text)).toBe(expected);
  });
});
