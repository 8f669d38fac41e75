/**
 * A first request to try, as one line for a shell.
 * @param {string} baseUrl
 * @returns {string}
 */
export function firstSale(baseUrl) {
  const sale = {
    api_version: 1,
    merchant_account: 'demo_merchant',
    merchant_password: 'demo_password',
    transaction_unique_id: 'UNIQUE_ID',
    transaction_type: 'SALE',
    amount: 10.0,
    currency: 'XTS',
    card_number: '4111111111111111',
    card_exp_month: '12',
    card_exp_year: '2030',
    cvv: '123',
    card_holder: 'Jane Doe',
    first_name: 'Jane',
    last_name: 'Doe',
    country: 'USA',
    user_phone: '+12025550123',
    user_email: 'jane.doe@example.com',
    user_ip: '203.0.113.7',
  };
  // Outside the quotes, so that the shell puts a new id into every call.
  const body = JSON.stringify(sale).replace('UNIQUE_ID', "first-sale-'$(date +%s%N)'");
  return `curl -sS ${baseUrl}/api/pf/host-to-host -H 'Content-Type: application/json' -d '${body}'`;
}
