import * as fc from 'fast-check';
import { drawnSeed } from './volume.ts';

// One commit always tries the same inputs, so a check that passed here passes elsewhere; the next commit tries others.
fc.configureGlobal({ seed: drawnSeed() });
