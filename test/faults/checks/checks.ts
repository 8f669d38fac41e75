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

/** A check says what is wrong with the evidence, one sentence for each thing. */
export type Check = (evidence: Evidence) => string[];

export const CHECKS: Readonly<Record<string, Check>> = {
  'every success is known to the bank': successesAreTheBanks,
  'CHECK tells of all money that moved': movedMoneyIsShown,
  'nothing is charged, settled, refunded, or paid twice': nothingMovesTwice,
  'banks are asked once, and only for what they may do': banksAreAskedOnce,
  'nothing runs after its deadline': nothingRunsLate,
  'terminal states stay': terminalStatesStay,
  'every PENDING ends': everyPendingEnds,
  'CHECK knows every accepted request': checkKnowsWhatWasAccepted,
  'refused requests did nothing': refusedRequestsDidNothing,
  'every final callback is attempted, and signed': callbacksAreAttempted,
  'events are in sequence and complete': eventsAreInSequence,
  'nothing is left behind': nothingIsLeftBehind,
  'card data stays in the vault': cardDataStaysInTheVault,
};
