import { askWithoutEcho } from '@gateway/service-kit';
import { main } from './command-line';

void main(process.argv.slice(2), {
  env: process.env,
  ask: askWithoutEcho,
  out: (text) => console.log(text),
  err: (text) => console.error(text),
}).then((code) => {
  process.exitCode = code;
});
