import type { Static } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import { commonSettings } from '@gateway/service-kit';

export const settings = Type.Object({ ...commonSettings });

export type Config = Readonly<Static<typeof settings>>;
