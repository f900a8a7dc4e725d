import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findMoved } from './support/hygiene/compressed-copy.ts';
import { printRows } from './support/hygiene/judge-hygiene.ts';
import { runHygiene } from './support/hygiene/hygiene-run.ts';
import { PLANTS } from './support/hygiene/plant-leak.ts';
import { BACKENDS } from './support/stage-plane.ts';

/** Set by `npm run soak:hygiene`: the fields of `Asked` as JSON. */
const ASKED_FOR = process.env['SALLYPORT_HYGIENE'];

interface Asked {
  readonly minutes: number;
  readonly seed: number;
  readonly plant?: string;
  /** Where the report goes. */
  readonly file: string;
}

const asked = JSON.parse(ASKED_FOR ?? '{"minutes":0,"seed":1,"file":""}') as Asked;

it('the soak finds every duration that it shortens', () => {
  expect(findMoved()).toEqual([]);
});

// Takes minutes, so it runs only with `npm run soak:hygiene`.
it.each(ASKED_FOR === undefined ? [] : BACKENDS)(
  'a day of a plane on %s, compressed, leaves everything as it was',
  async (backend) => {
    const report = await runHygiene({
      backend,
      seed: asked.seed,
      minutes: asked.minutes,
      leastRounds: 2,
      steps: 150,
      plants: PLANTS.filter((each) => each === asked.plant || asked.plant === 'all'),
      tell: (line) => console.log(`${backend}: ${line}`),
    });
    if (asked.file !== '') writeFileSync(asked.file, JSON.stringify(report));
    console.log(`\n${backend}: ${report.rounds} rounds in ${report.minutes.toFixed(1)} min\n${printRows(report.rows)}`);
    console.log(`${backend}: endings ${JSON.stringify(report.endings)}`);
    const wrong = report.rows.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'not judged');
    expect(wrong.map(({ name, start, end, left }) => ({ name, start, end, left }))).toEqual([]);
    expect(report.afterwards).toEqual([]);
  },
  asked.minutes * 60_000 + 10 * 60_000,
);
