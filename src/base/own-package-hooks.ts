// Runs in the loader thread of a process that imports modules from outside the package. See own-package.ts.
import type { InitializeHook, ResolveHook } from 'node:module';
import { isOwnName } from './own-package.ts';

let ownAddress: string | undefined;

export const initialize: InitializeHook<{ readonly from: string }> = ({ from }) => {
  ownAddress = from;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing || !isOwnName(specifier) || ownAddress === undefined) throw error;
    return next(specifier, { ...context, parentURL: ownAddress });
  }
};
