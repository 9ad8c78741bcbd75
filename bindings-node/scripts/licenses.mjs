// Puts the licences into the packages for the platforms, which `napi create-npm-dirs` has laid out in the folder `npm` of the folder
// that is given: each of them is installed, and passed on, by itself.

import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(new URL('..', import.meta.url));
const laidOut = path.join(process.argv[2] ?? own, 'npm');
const licences = ['LICENSE-MIT', 'LICENSE-APACHE'];

for (const name of readdirSync(laidOut)) {
  const folder = path.join(laidOut, name);
  const file = path.join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  for (const licence of licences) copyFileSync(path.join(own, licence), path.join(folder, licence));
  manifest.files = [...new Set([...manifest.files, ...licences])];
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
