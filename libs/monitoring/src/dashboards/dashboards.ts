import type { Dashboard } from '../dashboard';
import { callbacks } from './callbacks';
import { cards } from './cards';
import { messages } from './messages';
import { overview } from './overview';
import { payouts } from './payouts';
import { service } from './service';

export const dashboards: readonly Dashboard[] = [overview, cards, payouts, callbacks, messages, service];
