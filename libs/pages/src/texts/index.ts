import type { Language } from '../languages';
import { de } from './de';
import type { Texts } from './en';
import { en } from './en';
import { es } from './es';
import { fr } from './fr';
import { it } from './it';
import { lt } from './lt';
import { nl } from './nl';
import { pl } from './pl';

export type { Texts } from './en';

export const TEXTS: Readonly<Record<Language, Texts>> = { en, de, fr, es, it, nl, pl, lt };
