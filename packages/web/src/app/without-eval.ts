import { z } from 'zod';

// zod tries `new Function` to build faster parsers; the page's policy forbids it, and each try would be reported as a breach.
// Imported first: the setting has to stand before any schema is used.
z.config({ jitless: true });
