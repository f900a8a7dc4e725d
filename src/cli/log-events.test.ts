import { expect, it } from 'vitest';
import { createEventBus } from '../observe/event-bus.ts';
import { createLevelledLog } from './levelled-log.ts';
import { logEvents } from './log-events.ts';

it('logEvents listens while the level is debug, and only then', async () => {
  const bus = createEventBus();
  const lines: [object, string][] = [];
  const write = (facts: object, message: string): void => void lines.push([facts, message]);
  const log = createLevelledLog('info', { debug: write, info: write, warn: write, error: write });
  logEvents(bus, log);
  expect(bus.listening).toBe(false);
  log.level = 'debug';
  log.level = 'debug';
  bus.emit('tool.completed', { durationMs: 7 });
  await expect.poll(() => lines).toMatchObject([[{ durationMs: 7 }, 'tool.completed']]);
  log.level = 'warn';
  expect(bus.listening).toBe(false);
  await bus.close();
});
