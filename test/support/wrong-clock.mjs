// Loaded with `--import`. The clock of this process is behind until the file that WRONG_CLOCK_UNTIL names exists.
import { existsSync } from 'node:fs';

const { WRONG_CLOCK_BEHIND_MS, WRONG_CLOCK_UNTIL } = process.env;
const rightNow = Date.now;
const isRight = () => WRONG_CLOCK_UNTIL !== undefined && existsSync(WRONG_CLOCK_UNTIL);
Date.now = () => rightNow() - (isRight() ? 0 : Number(WRONG_CLOCK_BEHIND_MS));
