import type { Evidence } from '../model/evidence';
import { cardDataStaysInTheVault } from './card-data';
import { nothingIsLeftBehind } from './leftovers';
import { callbacksAreAttempted, eventsAreInSequence } from './messages';
import {
  banksAreAskedOnce,
  movedMoneyIsShown,
  nothingMovesTwice,
  nothingRunsLate,
  successesAreTheBanks,
} from './money';
import { checkKnowsWhatWasAccepted, everyPendingEnds, refusedRequestsDidNothing, terminalStatesStay } from './outcomes';
import { lastReleaseCanReadAll } from './schemas';

/** Returns the problems in the evidence, one sentence each. */
export type Check = (evidence: Evidence) => string[];

export const CHECKS: Readonly<Record<string, Check>> = {
  'every success is known to the bank': successesAreTheBanks,
  'CHECK shows all money that moved': movedMoneyIsShown,
  'nothing is charged, settled, refunded or paid twice': nothingMovesTwice,
  'banks get each request once, and no forbidden request': banksAreAskedOnce,
  'nothing runs after its deadline': nothingRunsLate,
  'final outcomes never change': terminalStatesStay,
  'every PENDING ends': everyPendingEnds,
  'CHECK knows every accepted request': checkKnowsWhatWasAccepted,
  'refused requests did nothing': refusedRequestsDidNothing,
  'every final callback is attempted and signed': callbacksAreAttempted,
  'events are in sequence and complete': eventsAreInSequence,
  'nothing is left behind': nothingIsLeftBehind,
  'card data stays in the vault': cardDataStaysInTheVault,
  'the last release can read everything': lastReleaseCanReadAll,
};
