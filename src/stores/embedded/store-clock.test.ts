import { expect, it } from 'vitest';
import { StoreClock } from './store-clock.ts';

it('store time follows the wall clock', () => {
  let wall = 1_000;
  const clock = new StoreClock(
    0,
    () => wall,
    () => 0,
  );
  expect(clock.now()).toBe(1_000);
  wall = 5_000;
  expect(clock.now()).toBe(5_000);
});

it('store time goes on at the monotonic pace when the wall clock is set back', () => {
  let wall = 10_000;
  let monotonic = 0;
  const clock = new StoreClock(
    0,
    () => wall,
    () => monotonic,
  );
  clock.now();
  wall = 1_000;
  monotonic = 250;
  expect(clock.now()).toBe(10_250);
  monotonic = 250.6;
  expect(clock.now()).toBe(10_250);
  monotonic = 251.2;
  expect(clock.now()).toBe(10_251);
});

it('store time starts no earlier than the time that was written down', () => {
  let monotonic = 0;
  const clock = new StoreClock(
    9_000,
    () => 1_000,
    () => monotonic,
  );
  expect(clock.now()).toBe(9_000);
  monotonic = 10;
  expect(clock.now()).toBe(9_010);
});
