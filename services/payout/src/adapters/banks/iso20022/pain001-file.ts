import type { FileHandle } from 'node:fs/promises';
import { create, fragment } from 'xmlbuilder2';
import { utcDay } from '@gateway/contracts';
import type { CreditTransfer, StructuredAddress } from '../../../domain/iso20022/credit-transfer';
import { euroText } from '../../../domain/iso20022/euro';
import type { Debtor } from './settings';
import { writeSynced } from './synced';

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09';
/** Characters to buffer before a write, so that the whole document is never in memory. */
const CHUNK_CHARACTERS = 65_536;
/** The file holds names and account numbers. Only the payout service and its group, with the agent, may read it. */
export const FILE_MODE = 0o640;

/** Frozen before the first rendering, so that rendering again gives the same bytes. */
export interface Pain001 {
  messageId: string;
  /** Epoch ms. Also the execution date, or for instant transfers the execution time. */
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

/** The members no longer match what was frozen. Another attempt would not help. */
export class BrokenBatch extends Error {}

/** Writes the document to a new file and syncs it to disk. Throws {@link BrokenBatch}. */
export async function writePain001(path: string, head: Pain001, transfers: AsyncIterable<Transfer>): Promise<void> {
  await writeSynced(path, FILE_MODE, (file) => writeDocument(file, head, transfers));
}

async function writeDocument(file: FileHandle, head: Pain001, transfers: AsyncIterable<Transfer>): Promise<void> {
  let chunk = beginning(head);
  let payouts = 0;
  let totalE4 = 0;
  for await (const transfer of transfers) {
    chunk += creditTransfer(transfer);
    payouts += 1;
    totalE4 += transfer.amountE4;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    await file.write(chunk);
    chunk = '';
  }
  await file.write(chunk + END);
  if (payouts !== head.payouts || totalE4 !== head.totalE4) {
    throw new BrokenBatch(
      `${head.messageId}: ${payouts} payouts of ${totalE4} where ${head.payouts} of ${head.totalE4} belong`,
    );
  }
}

/** The credit transfers replace this placeholder. */
const END = '</PmtInf></CstmrCdtTrfInitn></Document>';

function beginning(head: Pain001): string {
  const sums = { NbOfTxs: String(head.payouts), CtrlSum: euroText(head.totalE4) };
  const document = create(
    { version: '1.0', encoding: 'UTF-8' },
    {
      Document: {
        '@xmlns': NAMESPACE,
        CstmrCdtTrfInitn: {
          GrpHdr: {
            MsgId: head.messageId,
            CreDtTm: secondOf(head.createdAt),
            ...sums,
            InitgPty: { Nm: head.initiatingParty },
          },
          PmtInf: {
            PmtInfId: head.messageId,
            PmtMtd: 'TRF',
            ...sums,
            PmtTpInf: { SvcLvl: { Cd: 'SEPA' }, ...(head.instant ? { LclInstrm: { Cd: 'INST' } } : {}) },
            ReqdExctnDt: head.instant ? { DtTm: secondOf(head.createdAt) } : { Dt: utcDay(head.createdAt) },
            Dbtr: { Nm: head.debtor.name },
            DbtrAcct: { Id: { IBAN: head.debtor.iban } },
            DbtrAgt: { FinInstnId: debtorAgent(head.debtor) },
            ChrgBr: 'SLEV',
          },
        },
      },
    },
  ).end({ wellFormed: true });
  if (!document.endsWith(END)) throw new Error(`a document that does not end in ${END}`);
  return document.slice(0, -END.length);
}

/** The schema requires an agent. SEPA allows `NOTPROVIDED` if there is only an IBAN. */
function debtorAgent({ bic }: Debtor) {
  return bic === undefined ? { Othr: { Id: 'NOTPROVIDED' } } : { BICFI: bic };
}

/** One fragment per transfer: a single builder for all of them takes five times as long. */
function creditTransfer({ reference, amountE4, iban, bic, name, address, remittance }: Transfer): string {
  const elements = {
    PmtId: { EndToEndId: reference },
    Amt: { InstdAmt: { '@Ccy': 'EUR', '#': euroText(amountE4) } },
    ...(bic === undefined ? {} : { CdtrAgt: { FinInstnId: { BICFI: bic } } }),
    Cdtr: { Nm: name, ...(address === undefined ? {} : { PstlAdr: postalAddress(address) }) },
    CdtrAcct: { Id: { IBAN: iban } },
    ...(remittance === undefined ? {} : { RmtInf: { Ustrd: remittance } }),
  };
  return fragment({ CdtTrfTxInf: elements }).toString({ wellFormed: true });
}

/** In the order of the schema. */
function postalAddress({ streetName, buildingNumber, room, postCode, townName, country }: StructuredAddress) {
  return {
    ...(streetName === undefined ? {} : { StrtNm: streetName }),
    ...(buildingNumber === undefined ? {} : { BldgNb: buildingNumber }),
    ...(room === undefined ? {} : { Room: room }),
    ...(postCode === undefined ? {} : { PstCd: postCode }),
    TwnNm: townName,
    Ctry: country,
  };
}

function secondOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}
