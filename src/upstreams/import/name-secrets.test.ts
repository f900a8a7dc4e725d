import { describe, expect, it } from 'vitest';
import { nameFrom, SecretNames, type ExistingSecret, type SecretRequest } from './name-secrets.ts';

const none: ExistingSecret = () => undefined;
const request = (setting: string, value?: string, more: Partial<SecretRequest> = {}): SecretRequest => ({
  setting,
  value,
  server: 'desk',
  isForeign: false,
  ...more,
});

describe('SecretNames', () => {
  it('keeps names that say whose secret it is, and puts the server before the others', () => {
    const names = new SecretNames(none);
    expect(names.choose(request('GITHUB_TOKEN', 'aaaa'))).toBe('GITHUB_TOKEN');
    expect(names.choose(request('TOKEN', 'bbbb'))).toBe('DESK_TOKEN');
    expect(names.choose(request('API_KEY', 'cccc'))).toBe('DESK_API_KEY');
    expect(names.choose(request('Authorization', 'dddd'))).toBe('DESK_AUTHORIZATION');
    expect(names.choose(request('DATABASE_URL', 'eeee'))).toBe('DESK_DATABASE_URL');
  });

  it('shares a name between equal values only', () => {
    const names = new SecretNames(none);
    expect(names.choose(request('GITHUB_TOKEN', 'aaaa'))).toBe('GITHUB_TOKEN');
    expect(names.choose(request('GITHUB_TOKEN', 'aaaa', { server: 'other' }))).toBe('GITHUB_TOKEN');
    expect(names.choose(request('GITHUB_TOKEN', 'bbbb', { server: 'other' }))).toBe('OTHER_GITHUB_TOKEN');
    expect(names.choose(request('GITHUB_TOKEN', 'cccc', { server: 'other' }))).toBe('OTHER_GITHUB_TOKEN_2');
  });

  it('never takes the name of a file with another value', () => {
    const existing: ExistingSecret = (name) =>
      name === 'GITHUB_TOKEN' ? { value: 'aaaa' } : name === 'DESK_GITHUB_TOKEN' ? 'unreadable' : undefined;
    expect(new SecretNames(existing).choose(request('GITHUB_TOKEN', 'aaaa'))).toBe('GITHUB_TOKEN');
    expect(new SecretNames(existing).choose(request('GITHUB_TOKEN', 'bbbb'))).toBe('DESK_GITHUB_TOKEN_2');
    expect(new SecretNames(existing).choose(request('GITHUB_TOKEN'))).toBe('GITHUB_TOKEN');
  });

  it('gives a foreign server no secret that exists, by any name', () => {
    const existing: ExistingSecret = (name) =>
      ['GITHUB_TOKEN', 'PROJECT_GITHUB_TOKEN'].includes(name) ? { value: 'aaaa' } : undefined;
    const names = new SecretNames(existing);
    const foreign = { server: 'github', isForeign: true };
    expect(names.choose(request('TOKEN', undefined, foreign))).toBe('PROJECT_GITHUB_TOKEN_2');
    expect(names.choose(request('GITHUB_TOKEN', undefined, foreign))).toBe('PROJECT_GITHUB_GITHUB_TOKEN');
    expect(names.choose(request('MAIL_TOKEN', 'aaaa'))).toBe('MAIL_TOKEN');
    expect(names.choose(request('MAIL_TOKEN', 'aaaa', foreign))).toBe('PROJECT_GITHUB_MAIL_TOKEN');
  });

  it('shares a secret inside a foreign server, and not with another server', () => {
    const names = new SecretNames(none);
    const foreign = { server: 'github', isForeign: true };
    expect(names.choose(request('TOKEN', undefined, foreign))).toBe('PROJECT_GITHUB_TOKEN');
    expect(names.choose(request('token', undefined, foreign))).toBe('PROJECT_GITHUB_TOKEN');
    expect(names.choose(request('TOKEN', undefined, { server: 'project_github' }))).toBe('PROJECT_GITHUB_TOKEN_2');
    expect(names.choose(request('TOKEN', undefined, { server: 'project-github' }))).toBe('PROJECT_GITHUB_TOKEN_2');
  });

  it('makes a name of any text', () => {
    expect(['x-api.key', '_9lives', '9', '', 'ü', 'a'.repeat(100)].map(nameFrom)).toEqual([
      'X_API_KEY',
      'LIVES',
      'SECRET',
      'SECRET',
      'SECRET',
      'A'.repeat(64),
    ]);
  });
});
