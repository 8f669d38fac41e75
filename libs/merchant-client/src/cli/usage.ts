import { SCENARIO_NAMES, SCENARIOS } from './scenarios';

const WIDTH = Math.max(...SCENARIO_NAMES.map(({ length }) => length)) + 2;
const scenarios = SCENARIO_NAMES.map((name) => `    ${name.padEnd(WIDTH)}${SCENARIOS[name].what}`).join('\n');

export const USAGE = `Usage: gateway COMMAND [options]

  listen --forward-to URL   posts the account's callbacks to a server on this machine, such as
                            http://localhost:3000/callback or 3000/callback, as the gateway sends them
    --since 2h              begins that long ago (s, m, h, d) instead of where it stopped
    --position-file FILE    where it saves its position; default: a file in your home directory
  trigger SCENARIO          makes a payment whose callback follows
    --amount 31.40          forces another answer from the bank, as in every XTS payment
    --callback-url URL      default: https://localhost/callback, which only "listen" can reach
${scenarios}
  events                    lists the account's callbacks with their attempts, newest first
    --limit 20              at most 50
    --reference REFERENCE   only those of a payment
    --since 2h              no older ones
    --json                  prints JSON
  resend CALLBACK_ID        sends one again

All commands:
  --url URL                 of the gateway; default: GATEWAY_URL, or that of this checkout,
                            or http://127.0.0.1:8080
    --allow-http            if it is http on another machine: others could read the API password
  --account NAME            default: GATEWAY_ACCOUNT
  --password-file FILE      with the API password; default: GATEWAY_PASSWORD_FILE

The API password comes from GATEWAY_PASSWORD or a file, never from the command line, where others can read it.
listen, trigger and resend are for sandbox accounts.`;
