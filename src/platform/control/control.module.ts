import { Module } from '@nestjs/common';
import { ControlStream } from './control-stream.js';

@Module({ providers: [ControlStream], exports: [ControlStream] })
export class ControlModule {}
