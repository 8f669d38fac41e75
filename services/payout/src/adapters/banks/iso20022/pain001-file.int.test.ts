import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { convert } from 'xmlbuilder2';
import type { CreditTransfer } from '../../../domain/iso20022/credit-transfer';
import { creditTransferOf } from '../../../domain/iso20022/credit-transfer';
import type { Pain001, Transfer } from './pain001-file';
import { BrokenBatch, writePain001 } from './pain001-file';
import { createSchemaCheck, PAIN_001 } from './schema-check';

const directory = mkdtempSync(join(tmpdir(), 'pain001-'));
const schemaCheck = createSchemaCheck();
afterAll(() => schemaCheck.stop());

let files = 0;

async function write(transfers: readonly Transfer[], change: Partial<Pain001> = {}): Promise<string> {
  const path = join(directory, `${(files += 1)}.xml`);
  const head: Pain001 = {
    messageId: '20261121100000-0123456789ABCDEF',
    createdAt: Date.parse('2026-11-21T10:00:00.123Z'),
    initiatingParty: 'Gateway Ltd',
    debtor: { name: 'Gateway Ltd', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
    instant: false,
    payouts: transfers.length,
    totalE4: transfers.reduce((sum, { amountE4 }) => sum + amountE4, 0),
    ...change,
  };
  async function* each() {
    yield* transfers;
  }
  await writePain001(path, head, each());
  return path;
}

function read(path: string) {
  const read = convert(readFileSync(path, 'utf8'), { format: 'object' });
  return (read as { Document: { CstmrCdtTrfInitn: unknown } }).Document.CstmrCdtTrfInitn;
}

const plain: Transfer = {
  reference: 'AAAABBBBCCCCDDDD0001',
  amountE4: 310_100,
  iban: 'NL91ABNA0417164300',
  name: 'Zoe',
};
const full: Transfer = {
  reference: 'AAAABBBBCCCCDDDD0002',
  amountE4: 100,
  iban: 'AT611904300234573201',
  bic: 'BKAUATWW',
  name: "O'Neil (Wien)",
  address: { streetName: 'Ring', buildingNumber: '1', room: '2', postCode: '1010', townName: 'Wien', country: 'AT' },
  remittance: 'Winnings',
};

describe('a pain.001.001.09', () => {
  it('has every field that the scheme requires, and is valid', async () => {
    const path = await write([plain, full]);
    expect(await schemaCheck.problemOf(path, PAIN_001)).toBeUndefined();
    expect(read(path)).toEqual({
      GrpHdr: {
        MsgId: '20261121100000-0123456789ABCDEF',
        CreDtTm: '2026-11-21T10:00:00Z',
        NbOfTxs: '2',
        CtrlSum: '31.02',
        InitgPty: { Nm: 'Gateway Ltd' },
      },
      PmtInf: {
        PmtInfId: '20261121100000-0123456789ABCDEF',
        PmtMtd: 'TRF',
        NbOfTxs: '2',
        CtrlSum: '31.02',
        PmtTpInf: { SvcLvl: { Cd: 'SEPA' } },
        ReqdExctnDt: { Dt: '2026-11-21' },
        Dbtr: { Nm: 'Gateway Ltd' },
        DbtrAcct: { Id: { IBAN: 'DE89370400440532013000' } },
        DbtrAgt: { FinInstnId: { BICFI: 'COBADEFFXXX' } },
        ChrgBr: 'SLEV',
        CdtTrfTxInf: [
          {
            PmtId: { EndToEndId: 'AAAABBBBCCCCDDDD0001' },
            Amt: { InstdAmt: { '#': '31.01', '@Ccy': 'EUR' } },
            Cdtr: { Nm: 'Zoe' },
            CdtrAcct: { Id: { IBAN: 'NL91ABNA0417164300' } },
          },
          {
            PmtId: { EndToEndId: 'AAAABBBBCCCCDDDD0002' },
            Amt: { InstdAmt: { '#': '0.01', '@Ccy': 'EUR' } },
            CdtrAgt: { FinInstnId: { BICFI: 'BKAUATWW' } },
            Cdtr: {
              Nm: "O'Neil (Wien)",
              PstlAdr: { StrtNm: 'Ring', BldgNb: '1', Room: '2', PstCd: '1010', TwnNm: 'Wien', Ctry: 'AT' },
            },
            CdtrAcct: { Id: { IBAN: 'AT611904300234573201' } },
            RmtInf: { Ustrd: 'Winnings' },
          },
        ],
      },
    });
  });

  it('is readable only by its owner and group', async () => {
    expect(statSync(await write([plain])).mode & 0o007).toBe(0);
  });

  it('of instant payouts says so, with the execution time to the second', async () => {
    const path = await write([plain], { instant: true });
    expect(await schemaCheck.problemOf(path, PAIN_001)).toBeUndefined();
    expect(read(path)).toMatchObject({
      PmtInf: {
        PmtTpInf: { SvcLvl: { Cd: 'SEPA' }, LclInstrm: { Cd: 'INST' } },
        ReqdExctnDt: { DtTm: '2026-11-21T10:00:00Z' },
      },
    });
  });

  it('of a debtor without BIC identifies the agent by the IBAN only', async () => {
    const path = await write([plain], { debtor: { name: 'Us', iban: 'AT611904300234573201' } });
    expect(await schemaCheck.problemOf(path, PAIN_001)).toBeUndefined();
    expect(read(path)).toMatchObject({ PmtInf: { DbtrAgt: { FinInstnId: { Othr: { Id: 'NOTPROVIDED' } } } } });
  });

  it('is not written if the transfers differ from the frozen ones', async () => {
    await expect(write([plain], { payouts: 2 })).rejects.toThrow(BrokenBatch);
    await expect(write([plain], { totalE4: 310_000 })).rejects.toThrow(BrokenBatch);
  });

  it('does not overwrite an existing file', async () => {
    const path = await write([plain]);
    files -= 1;
    await expect(write([plain])).rejects.toThrow('EEXIST');
    expect(await schemaCheck.problemOf(path, PAIN_001)).toBeUndefined();
  });

  it('is valid whatever merchants write', async () => {
    const text = (maxLength: number) => fc.option(fc.string({ unit: 'binary', maxLength }), { nil: undefined });
    const transfers = fc.array(
      fc
        .record({
          amountE4: fc.integer({ min: 1, max: 9_999_999_999 }).map((cents) => cents * 100),
          name: fc.string({ unit: 'binary', minLength: 1, maxLength: 70 }).map((name) => `${name}x`),
          description: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 140 }),
          bic: fc.constantFrom(undefined, 'COBADEFF', 'BKAUATWW123'),
          street: text(64),
          buildingNumber: text(16),
          apartment: text(35),
          zip: text(10),
          city: text(32),
          country: fc.constantFrom('DEU', 'AUT', 'XXX', undefined),
        })
        .map(({ amountE4, name, description, bic, ...address }): CreditTransfer => {
          const given = Object.fromEntries(Object.entries(address).filter(([, value]) => value !== undefined));
          const receiver = { iban: 'NL91ABNA0417164300', name, address: given, ...(bic && { bic }) };
          const checked = creditTransferOf({ amountE4, currency: 'EUR', receiver, description });
          return (checked as { transfer: CreditTransfer }).transfer;
        }),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(transfers, fc.boolean(), async (all, instant) => {
        const path = await write(
          all.map((transfer, index) => ({ ...transfer, reference: `REFERENCE${index}` })),
          { instant },
        );
        expect(await schemaCheck.problemOf(path, PAIN_001)).toBeUndefined();
        interface Sent {
          Amt: { InstdAmt: { '#': string } };
        }
        const { PmtInf } = read(path) as { PmtInf: { CdtTrfTxInf: Sent | Sent[] } };
        const cents = [PmtInf.CdtTrfTxInf].flat().map(({ Amt }) => Number(Amt.InstdAmt['#'].replace('.', '')));
        expect(cents).toEqual(all.map(({ amountE4 }) => amountE4 / 100));
      }),
      { numRuns: 60 },
    );
  });
});
