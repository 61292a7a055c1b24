/** parse-server with a master key as HTTP Basic password; settings come from the environment. */
import { createRequire } from 'node:module';

const { INSTALLED, MONGODB_URI, PORT, API_USERNAME, API_PASSWORD } = process.env;
const require = createRequire(`${INSTALLED}/package.json`);
const express = require('express');
const { ParseServer } = require('parse-server');

const parse = new ParseServer({
  databaseURI: MONGODB_URI,
  appId: API_USERNAME,
  masterKey: API_PASSWORD,
  serverURL: `http://127.0.0.1:${PORT}/parse`,
  allowClientClassCreation: true,
  silent: true,
});
await parse.start();
express().use('/parse', parse.app).listen(Number(PORT), '127.0.0.1');
