import { z } from 'zod';

/** For requests whose result is read here: the SDK must not change, drop or refuse anything of it. */
export const ANY_RESULT = z.looseObject({});
