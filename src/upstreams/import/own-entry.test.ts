import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { isOwnEntry } from './own-entry.ts';

describe('isOwnEntry', () => {
  it.each<[string, JsonValue]>([
    ['x', { command: 'sallyport', args: ['mcp', '--agent', 'a'] }],
    ['x', { command: '/srv/sallyport/sallyport', args: ['mcp'] }],
    ['x', { command: 'npx', args: ['sallyport', 'mcp'] }],
    ['x', { command: '/usr/bin/node', args: ['/a/dist/cli/main.js', 'mcp'] }],
    ['sallyport', { type: 'http', url: 'http://127.0.0.1:7411/mcp' }],
  ])('%s %j is Sallyport', (name, value) => {
    expect(isOwnEntry(name, value)).toBe(true);
  });

  it.each<[string, JsonValue]>([
    ['sallyport', { command: 'node', args: ['mcp'] }],
    ['sallyport', { url: 'https://elsewhere.example/mcp' }],
    ['other', { url: 'http://127.0.0.1:7411/mcp' }],
    ['x', { command: '/srv/sallyport/other', args: ['mcp'] }],
    ['x', { command: 'node', args: ['mcp', 'sallyport'] }],
    ['x', { command: 'sallyport', args: ['dev', 'x'] }],
    ['x', null],
  ])('%s %j is not', (name, value) => {
    expect(isOwnEntry(name, value)).toBe(false);
  });
});
