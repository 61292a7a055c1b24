import { Module } from '@nestjs/common';
import { MongooseModule } from '@nestjs/mongoose';
import { AuthModule } from './auth/auth.module.js';
import { MembersModule } from './members/members.module.js';
import { ProductsModule } from './products/products.module.js';

@Module({
  imports: [
    MongooseModule.forRoot(process.env['MONGODB_URI'] ?? 'mongodb://127.0.0.1/shop'),
    AuthModule,
    MembersModule,
    ProductsModule,
  ],
})
export class AppModule {}
