import manifest from '../package.json' with { type: 'json' };

/** This build's version, from the package. */
export const VERSION: string = manifest.version;
