import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { createCB } from 'xmlbuilder2';
import type { XMLBuilderCB } from 'xmlbuilder2/lib/interfaces';
import type { CreditTransfer, StructuredAddress } from '../../../domain/iso20022/credit-transfer';
import { euroText } from '../../../domain/iso20022/euro';
import type { Debtor } from './settings';

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09';
/** What is rendered before it goes to the disk: so much, and not the document, is in memory. */
const CHUNK_CHARACTERS = 65_536;

/** All of it is frozen before the first rendering: rendered again, the same bytes. */
export interface Pain001 {
  messageId: string;
  /** Epoch ms; the day, and for instant transfers the second, of the execution as well. */
  createdAt: number;
  initiatingParty: string;
  debtor: Debtor;
  instant: boolean;
  payouts: number;
  totalE4: number;
}

/** EndToEndId is the payout's reference. */
export interface Transfer extends CreditTransfer {
  reference: string;
}

/** What was to be written is not what was frozen: nothing that another try mends. */
export class BrokenBatch extends Error {}

/** Writes the document to a new file and has it on the disk when it returns. Throws {@link BrokenBatch}. */
export async function writePain001(path: string, head: Pain001, transfers: AsyncIterable<Transfer>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await writeDocument(file, head, transfers);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeDocument(file: FileHandle, head: Pain001, transfers: AsyncIterable<Transfer>): Promise<void> {
  let chunk = '';
  let fault: Error | undefined;
  const xml = createCB({
    data: (markup: string) => {
      chunk += markup;
    },
    error: (error: Error) => {
      fault ??= error;
    },
    wellFormed: true,
  });
  const flush = async (): Promise<void> => {
    if (fault !== undefined) throw fault;
    const written = chunk;
    chunk = '';
    await file.write(written);
  };
  xml.dec({ version: '1.0', encoding: 'UTF-8' });
  xml.ele(NAMESPACE, 'Document').ele('CstmrCdtTrfInitn');
  groupHeader(xml, head);
  xml.ele('PmtInf');
  paymentInformation(xml, head);
  let payouts = 0;
  let totalE4 = 0;
  for await (const transfer of transfers) {
    creditTransfer(xml, transfer);
    payouts += 1;
    totalE4 += transfer.amountE4;
    if (chunk.length >= CHUNK_CHARACTERS) await flush();
  }
  xml.end();
  await flush();
  if (payouts !== head.payouts || totalE4 !== head.totalE4) {
    throw new BrokenBatch(
      `${head.messageId}: ${payouts} payouts of ${totalE4} where ${head.payouts} of ${head.totalE4} belong`,
    );
  }
}

function text(xml: XMLBuilderCB, name: string, value: string | undefined): void {
  if (value !== undefined) xml.ele(name).txt(value).up();
}

function sums(xml: XMLBuilderCB, { payouts, totalE4 }: Pain001): void {
  text(xml, 'NbOfTxs', String(payouts));
  text(xml, 'CtrlSum', euroText(totalE4));
}

function groupHeader(xml: XMLBuilderCB, head: Pain001): void {
  xml.ele('GrpHdr');
  text(xml, 'MsgId', head.messageId);
  text(xml, 'CreDtTm', secondOf(head.createdAt));
  sums(xml, head);
  xml.ele('InitgPty');
  text(xml, 'Nm', head.initiatingParty);
  xml.up().up();
}

function paymentInformation(xml: XMLBuilderCB, head: Pain001): void {
  text(xml, 'PmtInfId', head.messageId);
  text(xml, 'PmtMtd', 'TRF');
  sums(xml, head);
  xml.ele('PmtTpInf').ele('SvcLvl').ele('Cd').txt('SEPA').up().up();
  if (head.instant) xml.ele('LclInstrm').ele('Cd').txt('INST').up().up();
  xml.up().ele('ReqdExctnDt');
  if (head.instant) text(xml, 'DtTm', secondOf(head.createdAt));
  else text(xml, 'Dt', dayOf(head.createdAt));
  xml.up().ele('Dbtr');
  text(xml, 'Nm', head.debtor.name);
  xml.up();
  account(xml, 'DbtrAcct', head.debtor.iban);
  debtorAgent(xml, head.debtor.bic);
  text(xml, 'ChrgBr', 'SLEV');
}

function account(xml: XMLBuilderCB, name: string, iban: string): void {
  xml.ele(name).ele('Id').ele('IBAN').txt(iban).up().up().up();
}

/** The schema wants an agent; this is how the scheme says that the IBAN is enough to know it. */
function debtorAgent(xml: XMLBuilderCB, bic: string | undefined): void {
  xml.ele('DbtrAgt').ele('FinInstnId');
  if (bic === undefined) xml.ele('Othr').ele('Id').txt('NOTPROVIDED').up().up();
  else text(xml, 'BICFI', bic);
  xml.up().up();
}

function creditTransfer(xml: XMLBuilderCB, transfer: Transfer): void {
  xml.ele('CdtTrfTxInf').ele('PmtId');
  text(xml, 'EndToEndId', transfer.reference);
  xml.up().ele('Amt').ele('InstdAmt', { Ccy: 'EUR' }).txt(euroText(transfer.amountE4)).up().up();
  if (transfer.bic !== undefined) {
    xml.ele('CdtrAgt').ele('FinInstnId').ele('BICFI').txt(transfer.bic).up().up().up();
  }
  xml.ele('Cdtr');
  text(xml, 'Nm', transfer.name);
  if (transfer.address !== undefined) postalAddress(xml, transfer.address);
  xml.up();
  account(xml, 'CdtrAcct', transfer.iban);
  if (transfer.remittance !== undefined) xml.ele('RmtInf').ele('Ustrd').txt(transfer.remittance).up().up();
  xml.up();
}

/** In the order of the schema. */
function postalAddress(xml: XMLBuilderCB, address: StructuredAddress): void {
  xml.ele('PstlAdr');
  text(xml, 'StrtNm', address.streetName);
  text(xml, 'BldgNb', address.buildingNumber);
  text(xml, 'Room', address.room);
  text(xml, 'PstCd', address.postCode);
  text(xml, 'TwnNm', address.townName);
  text(xml, 'Ctry', address.country);
  xml.up();
}

function secondOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}
