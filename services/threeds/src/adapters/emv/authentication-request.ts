import { numericCurrency } from '@gateway/contracts';
import type { DirectoryRequest } from '../../application/ports';
import { inMinorUnits } from '../../domain/minor-units';
import { MESSAGE_VERSION } from './fields';
import { emvEmail, emvIpAddress, emvText } from './text';

/** Addresses for results and returning browsers. */
export interface OwnAddresses {
  results: string;
  notification: string;
  publicUrl: string;
}

/** The merchant's server sends the request, so these browser fields get values that fit any browser. */
const BROWSER = {
  browserJavascriptEnabled: false,
  browserAcceptHeader: 'text/html',
  browserLanguage: 'en',
  browserUserAgent: 'unknown',
};
const BROWSER_CHANNEL = '02';
const PAYMENT = '01';
/** EMV 3-D Secure, A.4: characters of the elements that people have written. */
const HOLDER_LENGTH = { min: 2, max: 45 } as const;
const MERCHANT_NAME_LENGTH_MAX = 40;

/** The elements of the AReq. */
export const AREQ_ELEMENTS = [
  'messageType',
  'messageVersion',
  'threeDSServerTransID',
  'threeDSServerURL',
  'notificationURL',
  'deviceChannel',
  'messageCategory',
  'threeDSRequestorID',
  'threeDSRequestorName',
  'threeDSRequestorURL',
  'acctNumber',
  'cardExpiryDate',
  'cardholderName',
  'email',
  'merchantName',
  'acquirerMerchantID',
  'purchaseAmount',
  'purchaseCurrency',
  'purchaseExponent',
  'purchaseDate',
  'browserIP',
  'browserJavascriptEnabled',
  'browserAcceptHeader',
  'browserLanguage',
  'browserUserAgent',
] as const;

type AReq = Partial<Record<(typeof AREQ_ELEMENTS)[number], unknown>>;

/** The AReq. Holds the card number: never log it. Throws for a currency without a numeric code. */
export function authenticationRequest(request: DirectoryRequest, own: OwnAddresses): AReq {
  const { customer, merchantAccount, merchantName } = request;
  const { pan, expMonth, expYear, holder } = request.card.expose();
  const purchaseCurrency = numericCurrency(request.currency);
  if (purchaseCurrency === undefined) throw new Error(`${request.currency} has no numeric code`);
  // Optional elements that EMV's characters cannot express are left out.
  const cardholderName = emvText(holder, HOLDER_LENGTH.min, HOLDER_LENGTH.max);
  const email = emvEmail(customer.email);
  const shownName = emvText(merchantName, 1, MERCHANT_NAME_LENGTH_MAX) ?? merchantAccount;
  const { amount, exponent } = inMinorUnits(request.amountE4, request.currency);
  return {
    messageType: 'AReq',
    messageVersion: MESSAGE_VERSION,
    threeDSServerTransID: request.threeDSServerTransId,
    threeDSServerURL: own.results,
    notificationURL: own.notification,
    deviceChannel: BROWSER_CHANNEL,
    messageCategory: PAYMENT,
    threeDSRequestorID: merchantAccount,
    threeDSRequestorName: shownName,
    threeDSRequestorURL: own.publicUrl,
    acctNumber: pan,
    cardExpiryDate: `${expYear.slice(-2)}${expMonth}`,
    ...(cardholderName === undefined ? {} : { cardholderName }),
    ...(email === undefined ? {} : { email }),
    merchantName: shownName,
    acquirerMerchantID: request.midReference,
    purchaseAmount: String(amount),
    purchaseCurrency,
    purchaseExponent: String(exponent),
    purchaseDate: purchaseDate(request.acceptedAt),
    browserIP: emvIpAddress(customer.ip),
    ...BROWSER,
  };
}

const SECONDS_LENGTH = 14;

/** YYYYMMDDHHMMSS in UTC. */
function purchaseDate(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\D/g, '').slice(0, SECONDS_LENGTH);
}
